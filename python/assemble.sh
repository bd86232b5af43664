#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: assemble.sh PROFAN SOURCES FOLDER
# Puts the Python module into FOLDER/profan, with what is made of PROFAN's help
# (a command, which may be one with arguments).
set -eu
profan=$1 sources=$2 folder=$3
mkdir -p "$folder/profan"
cp "$sources"/profan/*.py "$sources/profan/py.typed" "$folder/profan/"
chmod u+w "$folder"/profan/*
# shellcheck disable=SC2086  # a command with its arguments
$profan help --format json >"$folder/help.json"
"${PYTHON:-python3}" "$sources/generate.py" <"$folder/help.json" \
	>"$folder/profan/_commands.py"
rm "$folder/help.json"
