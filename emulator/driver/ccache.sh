#!/bin/sh
# Runs a compiler, through ccache where that can keep what it makes. ccache alone ends with an error where its
# folder cannot be written to, as in a home that is read-only and in the sandbox of a submission.
#
#   ccache.sh ROOT COMPILER ARGUMENT...
#
# ROOT is the checkout, or empty. Paths below it count as relative ones, so that two checkouts share what they compile.
root=$1
shift
[ -n "$CCACHE_DIR" ] || [ -d "$HOME" ] || exec "$@" # root would make a home that is not there
folder=$(ccache -k cache_dir 2>/dev/null) && mkdir -p "$folder/tmp" 2>/dev/null && [ -w "$folder/tmp" ] || exec "$@"
if [ "$root" ]; then # messages name files as they do without ccache
    export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$root}" CCACHE_ABSSTDERR=1
fi
# Precompiled headers ask for these.
export CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:+$CCACHE_SLOPPINESS,}pch_defines,time_macros"
exec ccache "$@"
