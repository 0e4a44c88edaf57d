#!/usr/bin/env bash
# Signs you in through linkd by a mailed link, or by a phone number, and says who you are.
#
# Needs linkctl and gdbus (libglib2.0-bin). Run:  ./sign-in.sh APP EMAIL|NUMBER [--show-token]
# NUMBER begins with +. Codes, of second factors too, are lines of standard input.
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
method=email-link hint="A link was sent to $email. Open it on this machine."
[[ $email != +* ]] || method=phone hint="A message is on its way to $email."
flow=$(linkctl sign-in $method "$email" --app "$app" --no-wait)
path=/org/linkd/Auth1/flow/$flow
give_up() { linkctl cancel "$flow" || true; echo "Cancelled." >&2; exit 130; }

trap give_up INT
trap '[ -z "${monitor:-}" ] || kill "$monitor" 2>/dev/null || true' EXIT

# What the person has to answer, once for each time that the flow asks. The code is no argument: others can list those.
answer() {
  local sequence code
  sequence=$(get "$path" Flow Sequence)
  [ "$sequence" != "${asked:-}" ] || return 0
  asked=$sequence
  if [ "$stage" = second-factor-required ]; then
    # The first of the hints; an app lets people choose.
    linkctl factor "$flow" "$(get "$path" Flow Details | grep -o "'uid': <'[^']*'" | head -1 | cut -d"'" -f4)" --no-wait
    return
  fi
  echo "The code, please:"
  while read -r code <&3; do
    ! linkctl code "$flow" --code-stdin --no-wait <<<"$code" || return 0
  done
}
exec 3<&0
echo "$hint"

# Each line says that something may be new; the property says what. So nothing is missed.
stage=
while read -r _; do
  stage=$(get "$path" Flow Stage)
  case $stage in
    succeeded | failed | cancelled | expired) break ;;
    waiting-for-code | second-factor-required) answer ;;
  esac
done < <(exec gdbus monitor --session --dest org.linkd.Auth1 --object-path "$path") && monitor=$!

case $stage in
  succeeded) ;;
  failed | cancelled | expired)
    echo "It ended without a sign-in ($stage): $(get "$path" Flow Details)" >&2
    [ "$stage" = cancelled ] && exit 130
    exit 1 ;;
  # The monitor has heard a Ctrl-C that bash missed, since a command was running.
  *) give_up ;;
esac

object=$(gdbus call --session --dest org.linkd.Auth1 --object-path /org/linkd/Auth1 \
  --method org.linkd.Auth1.Manager.GetApp "$app" '{}' | grep -o '/org/[^'\'']*')
echo "state: $(get "$object" Session State)"
echo "user: $(linkctl whoami --app "$app" | sed -nE 's/^(email|phone-number)  *//p' | head -1)"
# A token is fetched when it is needed, never stored: linkd keeps it fresh.
expires=$(linkctl token --app "$app" --json | grep -o '"expires-at":[0-9]*' | cut -d: -f2)
echo "token until: $(date -u -d "@$expires" +%FT%TZ)"
[ "$show" != --show-token ] || linkctl token --app "$app"
