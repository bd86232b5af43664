#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: comment.sh github|gitlab FILE
# Posts FILE under the merge request, in place of what was posted before: the comment
# that begins with FILE's first line.
set -eu
file=$2
[ -s "$file" ] || exit 0
marker=$(head -n 1 "$file")
case $1 in
github) # $GH_TOKEN, $GITHUB_REPOSITORY, $PULL
	place=repos/$GITHUB_REPOSITORY/issues
	id=$(gh api --paginate "$place/$PULL/comments" --jq ".[] |
		select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id" |
		head -n 1)
	if [ -n "$id" ]; then
		gh api --silent -X PATCH "$place/comments/$id" -F "body=@$file"
	else
		gh api --silent -X POST "$place/$PULL/comments" -F "body=@$file"
	fi
	;;
gitlab) # $PROFILE_TOKEN, and GitLab's own
	notes=$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes
	call() {
		curl -sSf -H "PRIVATE-TOKEN: $PROFILE_TOKEN" "$@"
	}
	id=$(call "$notes?sort=asc&per_page=100" | python3 -c '
import json, sys
print(*[n["id"] for n in json.load(sys.stdin)
        if n["body"].startswith(sys.argv[1])][:1])' "$marker")
	if [ -n "$id" ]; then
		call -X PUT --data-urlencode "body@$file" -o note.json "$notes/$id"
	else
		call -X POST --data-urlencode "body@$file" -o note.json "$notes"
	fi
	;;
esac
