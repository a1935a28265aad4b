"""A shared engine: the index of many repositories on ClickHouse, embedded in a folder or on a server, behind the screen's protocol."""
