"""The languages that we know: by which names their files go, and which Pygments lexer colours them.

To add one, add a row: the rest of the program (the `lang:` filter, the preview's colours, the statistics) follows. How a language is cut
into chunks is a file of its own in `chunking/queries/`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """One language. `extensions` are without the dot, in lower case; `filenames` as on disk, in lower case; `interpreters` as named in a
    `#!` line, without a version. `lexer` is `module:class` below `pygments.lexers`, or empty for plain text."""

    name: str
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    lexer: str = ""


def _row(name: str, lexer: str, extensions: str = "", filenames: str = "", interpreters: str = "") -> Language:
    return Language(name, tuple(extensions.split()), tuple(filenames.split()), tuple(interpreters.split()), lexer)


ROWS: tuple[Language, ...] = (
    # The languages that most code is written in.
    _row(
        "python",
        "python:PythonLexer",
        "py pyi pyw pth py3 wsgi gyp gypi bzl bazel star",
        "sconstruct sconscript wscript build.bazel workspace tiltfile snakefile",
        "python pypy uv",
    ),
    _row("javascript", "javascript:JavascriptLexer", "js mjs cjs es6 es jsm", "jakefile", "node nodejs bun qjs"),
    _row("jsx", "jsx:JsxLexer", "jsx"),
    _row("typescript", "javascript:TypeScriptLexer", "ts mts cts", "", "deno ts-node tsx"),
    _row("tsx", "jsx:TsxLexer", "tsx"),
    _row("java", "jvm:JavaLexer", "java jav"),
    _row("go", "go:GoLexer", "go"),
    _row("rust", "rust:RustLexer", "rs", "", "rust-script cargo"),
    _row("c", "c_cpp:CLexer", "c h idc"),
    _row(
        "cpp",
        "c_cpp:CppLexer",
        "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp tcc txx ixx cppm cu cuh ino re2c",
    ),
    _row("csharp", "dotnet:CSharpLexer", "cs csx cake"),
    _row("kotlin", "jvm:KotlinLexer", "kt kts ktm", "", "kotlin kotlinc"),
    _row("swift", "objective:SwiftLexer", "swift", "", "swift"),
    _row("objective-c", "objective:ObjectiveCLexer", "m mm"),
    _row("scala", "jvm:ScalaLexer", "scala sc sbt", "", "scala amm scala-cli"),
    _row(
        "ruby",
        "ruby:RubyLexer",
        "rb rake gemspec ru jbuilder podspec rbi thor builder",
        "rakefile gemfile guardfile vagrantfile podfile fastfile appfile brewfile capfile berksfile dangerfile .irbrc .pryrc",
        "ruby jruby rake",
    ),
    _row("php", "php:PhpLexer", "php php3 php4 php5 php7 phtml phps", "", "php"),
    _row("lua", "scripting:LuaLexer", "lua rockspec wlua luau", ".luacheckrc", "lua luajit texlua"),
    _row(
        "bash",
        "shell:BashLexer",
        "sh bash zsh ksh ebuild eclass bats command envrc",
        ".bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zshenv .zprofile .zlogin pkgbuild .envrc configure gradlew mvnw",
        "sh bash zsh ksh dash ash mksh",
    ),
    _row("fish", "shell:FishShellLexer", "fish", "", "fish"),
    _row("elixir", "erlang:ElixirLexer", "ex exs eex heex leex", "mix.lock", "elixir"),
    _row("haskell", "haskell:HaskellLexer", "hs hsc lhs hs-boot", "", "runhaskell runghc stack"),
    _row("zig", "zig:ZigLexer", "zig zon", "", "zig"),
    _row("dart", "javascript:DartLexer", "dart", "", "dart"),
    _row("ocaml", "ml:OcamlLexer", "ml mli mll mly eliom", "", "ocaml ocamlrun utop"),
    _row("r", "r:SLexer", "r rprofile rscript", ".rprofile", "rscript r"),
    _row("julia", "julia:JuliaLexer", "jl", "", "julia"),
    _row("perl", "perl:PerlLexer", "pl pm perl t pod psgi plx", "cpanfile makefile.pl", "perl cperl"),
    _row("sql", "sql:SqlLexer", "sql ddl dml pgsql psql plsql mysql prc"),
    # Markup and data.
    _row(
        "html", "html:HtmlLexer", "html htm xhtml shtml html5 mustache hbs handlebars ejs jinja jinja2 njk liquid twig"
    ),
    _row("css", "css:CssLexer", "css pcss postcss"),
    _row("scss", "css:ScssLexer", "scss sass"),
    _row("less", "css:LessCssLexer", "less"),
    _row("vue", "html:VueLexer", "vue"),
    _row("svelte", "html:HtmlLexer", "svelte astro"),
    _row(
        "xml",
        "html:XmlLexer",
        "xml xsd xsl xslt svg plist wsdl xaml csproj vbproj fsproj vcxproj props targets resx rss atom ui qrc axml"
        " nuspec storyboard xib kml gpx dtd",
        "pom.xml .classpath .project app.config web.config",
    ),
    _row("markdown", "markup:MarkdownLexer", "md markdown mdown mkd mkdn mdx qmd rmd livemd", "contents.lr readme.md"),
    _row("rst", "markup:RstLexer", "rst rest"),
    _row("tex", "markup:TexLexer", "tex ltx sty cls bib dtx ins"),
    _row(
        "json",
        "data:JsonLexer",
        "json jsonc json5 jsonl ndjson geojson webmanifest topojson har avsc code-workspace map",
        ".babelrc .eslintrc .jshintrc .prettierrc .swcrc composer.lock pipfile.lock flake.lock deno.lock .watchmanconfig",
    ),
    _row("notebook", "data:JsonLexer", "ipynb"),
    _row("yaml", "data:YamlLexer", "yaml yml cff sublime-syntax", ".clang-format .clang-tidy .clangd .gemrc yarn.lock"),
    _row("toml", "configs:TOMLLexer", "toml", "cargo.lock poetry.lock uv.lock pdm.lock pipfile"),
    _row(
        "ini",
        "configs:IniLexer",
        "ini cfg conf cnf properties desktop service timer socket editorconfig prefs inf reg",
        ".editorconfig .gitconfig .gitmodules .npmrc .flake8 .pylintrc .coveragerc .hgrc",
    ),
    _row("proto", "dsls:ProtoBufLexer", "proto textproto pbtxt"),
    _row("thrift", "dsls:ThriftLexer", "thrift"),
    _row("graphql", "graphql:GraphQLLexer", "graphql gql graphqls"),
    _row("hcl", "configs:TerraformLexer", "hcl tf tfvars nomad"),
    _row("dockerfile", "configs:DockerLexer", "dockerfile containerfile", "dockerfile containerfile"),
    _row("make", "make:MakefileLexer", "mk mak make", "makefile gnumakefile bsdmakefile kbuild justfile", "make"),
    _row("cmake", "make:CMakeLexer", "cmake", "cmakelists.txt"),
    _row("meson", "meson:MesonLexer", "", "meson.build meson_options.txt meson.options"),
    _row("nix", "nix:NixLexer", "nix", "", "nix-shell"),
    _row("diff", "diff:DiffLexer", "diff patch"),
    _row(
        "text",
        "",
        "txt text log",
        "readme license licence copying authors changelog changes news todo install notice contributors codeowners maintainers credits",
    ),
    # The rest, for their colours and the `lang:` filter.
    _row("groovy", "jvm:GroovyLexer", "groovy gradle gvy grt", "jenkinsfile", "groovy"),
    _row("clojure", "jvm:ClojureLexer", "clj cljs cljc edn bb", "", "clojure bb"),
    _row("erlang", "erlang:ErlangLexer", "erl hrl escript xrl yrl", "rebar.config", "escript erl"),
    _row("fsharp", "dotnet:FSharpLexer", "fs fsi fsx"),
    _row("vb", "dotnet:VbNetLexer", "vb vbs bas"),
    _row("powershell", "shell:PowerShellLexer", "ps1 psm1 psd1", "", "pwsh powershell"),
    _row("batch", "shell:BatchLexer", "bat cmd"),
    _row("nim", "nimrod:NimrodLexer", "nim nims nimble", "", "nim"),
    _row("crystal", "crystal:CrystalLexer", "cr", "", "crystal"),
    _row("d", "d:DLexer", "d di", "", "rdmd"),
    _row("cython", "python:CythonLexer", "pyx pxd pxi"),
    _row("fortran", "fortran:FortranLexer", "f f90 f95 f03 f08 for ftn fpp"),
    _row("matlab", "matlab:MatlabLexer", "matlab mlx", "", "octave"),
    _row("pascal", "pascal:DelphiLexer", "pas pp dpr lpr dfm"),
    _row("ada", "ada:AdaLexer", "adb ads ada"),
    _row("lisp", "lisp:CommonLispLexer", "lisp lsp cl asd", "", "sbcl clisp"),
    _row("emacs-lisp", "lisp:EmacsLispLexer", "el", ".emacs", "emacs"),
    _row("scheme", "lisp:SchemeLexer", "scm ss sld sls", "", "guile chicken csi"),
    _row("racket", "lisp:RacketLexer", "rkt rktl rktd", "", "racket"),
    _row("prolog", "prolog:PrologLexer", "prolog yap", "", "swipl"),
    _row("verilog", "hdl:VerilogLexer", "v vh"),
    _row("systemverilog", "hdl:SystemVerilogLexer", "sv svh"),
    _row("vhdl", "hdl:VhdlLexer", "vhd vhdl"),
    _row("assembly", "asm:GasLexer", "s asm nasm"),
    _row("llvm", "asm:LlvmLexer", "ll"),
    _row("solidity", "solidity:SolidityLexer", "sol"),
    _row("tcl", "tcl:TclLexer", "tcl tk itcl", "", "tclsh wish expect"),
    _row("awk", "textedit:AwkLexer", "awk gawk", "", "awk gawk mawk nawk"),
    _row("vim", "textedit:VimLexer", "vim vimrc", ".vimrc .gvimrc .nvimrc _vimrc"),
    _row("jsonnet", "jsonnet:JsonnetLexer", "jsonnet libsonnet"),
    _row("glsl", "graphics:GLShaderLexer", "glsl frag vert comp geom tesc tese vsh fsh"),
    _row("coffeescript", "javascript:CoffeeScriptLexer", "coffee litcoffee", "cakefile", "coffee"),
    _row("erb", "templates:ErbLexer", "erb rhtml"),
    _row("elm", "elm:ElmLexer", "elm"),
    _row("gleam", "gleam:GleamLexer", "gleam"),
    _row("devicetree", "devicetree:DevicetreeLexer", "dts dtsi dtso"),
    _row("kconfig", "", "kconfig", "kconfig"),
)
