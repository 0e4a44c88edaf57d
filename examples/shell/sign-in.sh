#!/usr/bin/env bash
# Signs you in through linkd by a mailed link, and says who you are.
#
# Needs linkctl and gdbus (libglib2.0-bin). Run:  ./sign-in.sh APP EMAIL [--show-token]
# APP is an app that linkd knows (`linkctl app list`). Ctrl-C gives the sign-in up.
#
# A script that can simply wait needs one line:  linkctl sign-in email-link EMAIL --app APP
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 64; }
app=$1 email=$2 show=${3:-}

# A property of an object of linkd's: PATH INTERFACE NAME
get() {
  gdbus call --session --dest org.linkd.Auth1 --object-path "$1" --method org.freedesktop.DBus.Properties.Get \
    "org.linkd.Auth1.$2" "$3" | sed -E "s/^\(<(.*)>,\)$/\1/; s/^'(.*)'$/\1/"
}

# Three lines to sign your user in.
flow=$(linkctl sign-in email-link "$email" --app "$app" --no-wait)
echo "A link was sent to $email. Open it on this machine."
path=/org/linkd/Auth1/flow/$flow

trap 'linkctl cancel "$flow" || true; echo "Cancelled." >&2; exit 130' INT
trap '[ -z "${monitor:-}" ] || kill "$monitor" 2>/dev/null || true' EXIT

# Each line says that something may be new; the property says what. So nothing is missed.
stage=
while read -r _; do
  stage=$(get "$path" Flow Stage)
  case $stage in succeeded | failed | cancelled | expired) break ;; esac
done < <(exec gdbus monitor --session --dest org.linkd.Auth1 --object-path "$path") && monitor=$!

if [ "$stage" != succeeded ]; then
  echo "It ended without a sign-in ($stage): $(get "$path" Flow Details)" >&2
  [ "$stage" = cancelled ] && exit 130
  exit 1
fi

object=$(gdbus call --session --dest org.linkd.Auth1 --object-path /org/linkd/Auth1 \
  --method org.linkd.Auth1.Manager.GetApp "$app" '{}' | grep -o '/org/[^'\'']*')
echo "state: $(get "$object" Session State)"
echo "user: $(linkctl whoami --app "$app" | sed -n 's/^email  *//p')"
# A token is fetched when it is needed, never stored: linkd keeps it fresh.
expires=$(linkctl token --app "$app" --json | grep -o '"expires-at":[0-9]*' | cut -d: -f2)
echo "token until: $(date -u -d "@$expires" +%FT%TZ)"
[ "$show" != --show-token ] || linkctl token --app "$app"
