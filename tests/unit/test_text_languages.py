"""Languages by name and content; tests, generated, vendored and squeezed files by path and start."""

from __future__ import annotations

from collections import Counter

import pytest

from mgrep_tui.text.language_table import ROWS
from mgrep_tui.text.languages import LANGUAGES, is_generated, is_minified, is_test_path, is_vendored, language_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        (b"a.py", "python"),
        (b"src/A.PY", "python"),
        (b"a.pyi", "python"),
        (b"a.d.ts", "typescript"),
        (b"app/[id]/page.tsx", "tsx"),
        (b"a.mjs", "javascript"),
        (b"a.jsx", "jsx"),
        (b"a.C", "cpp"),
        (b"a.c", "c"),
        (b"a.h", "c"),
        (b"a.hpp", "cpp"),
        (b"a.rs", "rust"),
        (b"a.go", "go"),
        (b"A.java", "java"),
        (b"A.cs", "csharp"),
        (b"build.gradle.kts", "kotlin"),
        (b"build.gradle", "groovy"),
        (b"Gemfile", "ruby"),
        (b"x/Makefile", "make"),
        (b"Makefile.am", "make"),
        (b"GNUmakefile", "make"),
        (b"Dockerfile", "dockerfile"),
        (b"Dockerfile.dev", "dockerfile"),
        (b"dev.dockerfile", "dockerfile"),
        (b"CMakeLists.txt", "cmake"),
        (b"notes.txt", "text"),
        (b"README", "text"),
        (b"README.md", "markdown"),
        (b"config.yaml.example", "yaml"),
        (b"config.h.in", "c"),
        (b".bashrc", "bash"),
        (b"main.tf", "hcl"),
        (b"a.proto", "proto"),
        (b"n.ipynb", "notebook"),
        (b"App.vue", "vue"),
        (b"App.svelte", "svelte"),
        (b"a.scss", "scss"),
        (b"a.R", "r"),
        (b"Cargo.lock", "toml"),
        (b"package-lock.json", "json"),
        (b"a.unknown", ""),
        (b"noextension", ""),
        (b"caf\xe9.py", "python"),
        (b"dir.py/file", ""),
        (b".py", "python"),
        (b"", ""),
    ],
)
def test_language_by_name(path: bytes, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (b"#!/usr/bin/python3\n", "python"),
        (b"#!/usr/bin/env python3.11\n", "python"),
        (b"#!/usr/bin/env -S python3 -u\n", "python"),
        (b"#!/usr/bin/env -S FOO=1 node --harmony\n", "javascript"),
        (b"#! /bin/sh\n", "bash"),
        (b"#!/bin/bash -e\n", "bash"),
        (b"#!/usr/bin/perl -w\n", "perl"),
        (b"#!/usr/bin/env ruby", "ruby"),
        (b"#!/usr/bin/env\n", ""),
        (b"#!\n", ""),
        (b"#!/opt/thing\n", ""),
        (b"// -*- C++ -*-\n#ifndef X", "cpp"),
        (b"# -*- mode: python; coding: utf-8 -*-\n", "python"),
        (b"-*- nonsense -*-", ""),
        (b'<?xml version="1.0"?>\n', "xml"),
        (b"plain words\n", ""),
    ],
)
def test_language_by_the_first_lines(head: bytes, language: str) -> None:
    assert language_of(b"bin/tool", head) == language


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        (b"a.h", b"#include <stdio.h>\nstruct a;\nint f(void);\n", "c"),
        (
            b"a.h",
            b'/*\n * class of things in a namespace\n */\n#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n',
            "c",
        ),
        (b"a.h", b"typedef struct klass klass;\nint public_key;\n", "c"),
        (b"a.h", b"#pragma once\nnamespace a {\nclass B;\n}\n", "cpp"),
        (b"a.h", b"#include <string>\nvoid f(const std::string &s);\n", "cpp"),
        (b"a.h", b"class A {\npublic:\n  A();\n};\n", "cpp"),
        (b"a.h", b"template <typename T> T f(T x);\n", "cpp"),
        (b"a.h", b"#import <Foundation/Foundation.h>\n@interface A : NSObject\n@end\n", "objective-c"),
        (b"a.h", b"", "c"),
        (b"a.m", b"@implementation A\n@end\n", "objective-c"),
        (b"a.m", b"% adds\nfunction y = add(a, b)\n  y = a + b;\nend\n", "matlab"),
        (b"a.pl", b"use strict;\nmy $x = 1;\n", "perl"),
        (b"a.pl", b":- module(a, []).\nf(X) :- g(X).\n", "prolog"),
        (b"a.t", b"use Test::More;\n", "perl"),
        (b"a.ts", b'<?xml version="1.0"?>\n<!DOCTYPE TS>\n', "xml"),
        (b"a.ts", b"export const a = 1;\n", "typescript"),
        (b"a.d", b"main.o: main.c a.h\n", "make"),
        (b"a.d", b"import std.stdio;\n", "d"),
        (b"run.sh", b"#!/usr/bin/env python3\n", "python"),
        (b"run.sh", b"#!/opt/unknown\n", "bash"),
    ],
)
def test_content_decides_where_a_name_leaves_a_doubt(path: bytes, head: bytes, language: str) -> None:
    assert language_of(path, head) == language


def test_no_name_stands_for_two_languages() -> None:
    for kind in ("extensions", "filenames", "interpreters"):
        counts = Counter(value for row in ROWS for value in getattr(row, kind))
        assert [value for value, count in counts.items() if count > 1] == []
        assert all(value == value.lower() for value in counts)
    assert len(LANGUAGES) == len(ROWS) > 45


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (b"tests/helpers.py", True),
        (b"a/test/b.c", True),
        (b"src/__tests__/x.js", True),
        (b"pkg/a_test.go", True),
        (b"test_a.py", True),
        (b"a_test.py", True),
        (b"conftest.py", True),
        (b"src/a.test.ts", True),
        (b"src/a.spec.tsx", True),
        (b"src/test/java/A.java", True),
        (b"src/UserServiceTest.java", True),
        (b"src/UserServiceTests.cs", True),
        (b"Newtonsoft.Json.Tests/A.cs", True),
        (b"spec/a_spec.rb", True),
        (b"tools/testing/selftests/x.c", True),
        (b"t/basic.t", True),
        (b"contest.py", False),
        (b"latest/a.py", False),
        (b"attestation/a.py", False),
        (b"src/testing.py", False),
        (b"Fastest.java", False),
        (b"src/protest/a.go", False),
        (b"inspect.py", False),
        (b"a/tests", False),
        (b"Contest.java", False),
    ],
)
def test_tests_are_known_by_whole_parts_of_the_path(path: bytes, expected: bool) -> None:
    assert is_test_path(path) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (b"vendor/a.go", True),
        (b"third_party/x/a.c", True),
        (b"a/node_modules/b/c.js", True),
        (b"src/vendoring/a.py", False),
        (b"vendor", False),
        (b"src/a.py", False),
    ],
)
def test_vendored_files(path: bytes, expected: bool) -> None:
    assert is_vendored(path) is expected


@pytest.mark.parametrize(
    ("path", "head", "expected"),
    [
        (b"a.pb.go", b"", True),
        (b"a_pb2.py", b"", True),
        (b"a.min.js", b"", True),
        (b"package-lock.json", b"", True),
        (b"Cargo.lock", b"", True),
        (b"a.go", b"// Code generated by protoc-gen-go. DO NOT EDIT.\n", True),
        (b"a.py", b"# This file is automatically generated\n", True),
        (b"a.cs", b"// <auto-generated>\n", True),
        (b"a.js", b"/** @generated */\n", True),
        (b"a.py", b"def f():\n    generated = 1\n", False),
        (b"a.py", b"x\n" * 3000 + b"# @generated\n", False),
        (b"generator.go", b"package generator\n", False),
        (b"mk.go", b'\tfmt.Fprintln(&b, "// Code generated by mk.go. DO NOT EDIT.")\n', False),
        (b"mk.sh", b"echo '/* Automatically generated by mk.sh */'\n", False),
        (b"a.py", b'"""This file was automatically generated by a tool."""\n', True),
        (b"a.h", b"/*\n * This file is auto-generated by mk.sh\n */\n", True),
        (b"admin.js", b"", False),
    ],
)
def test_generated_files(path: bytes, head: bytes, expected: bool) -> None:
    assert is_generated(path, head) is expected


def test_squeezed_files() -> None:
    assert is_minified(b"var a=1;" * 2000)
    assert is_minified(b"/* licence */\n" * 5 + b"var a=1;" * 2000)
    assert not is_minified(b"var a = 1;\n" * 2000)
    assert not is_minified(b"var a=1;" * 50)
    assert not is_minified(b"")
