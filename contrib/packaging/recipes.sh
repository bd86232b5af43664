#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: recipes.sh SOURCE VERSION URL SHA256 FOLDER
# The recipes for other packagers, of the archive that has this digest.
set -eu
summary=$(sed -n 's/^Summary: //p' "$1/python/wheel.py")
for recipe in "$1"/contrib/packaging/recipes/*; do
	sed "s|@VERSION@|$2|g; s|@URL@|$3|g; s|@SHA256@|$4|g; s|@SUMMARY@|$summary|g" \
		"$recipe" >"$5/${recipe##*/}"
done
