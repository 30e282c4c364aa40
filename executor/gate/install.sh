# Puts the gate in place. Input: its SHA-256 in hex and a newline, then the file.
# Runs as sh -c between single quotes, so it has none itself.
set -eu
umask 077
fail() { echo "$1" >&2; exit 1; }
[ "$(id -u)" = 0 ] || fail "only root can install the gate, log in as root"
lib=/usr/local/lib/anthill
state=/var/lib/anthill
for d in "$lib" "$state"; do
	[ ! -L "$d" ] || fail "$d is a symbolic link"
done
new=
# Whatever does not come to its end leaves nothing: not even an empty folder.
clean() {
	[ -z "$new" ] || rm -f "$new"
	[ -e "$lib/gate" ] || rmdir "$state" "$lib" 2>/dev/null || :
}
trap clean EXIT
trap "exit 1" HUP INT TERM PIPE
mkdir -p "$lib" "$state" || fail "cannot make $lib and $state"
# Held to the end, so that others can tell that it still may come.
exec 9<"$lib"
dead="-mmin +60"
if command -v flock >/dev/null; then
	flock -w 60 9 || fail "another installation is under way"
	dead=
fi
chmod 0755 "$lib"
chmod 0700 "$state"
# What an upload that was cut by a crash left.
find "$lib" -maxdepth 1 -type f -name ".gate.*" $dead -exec rm -f {} +
read -r sum || fail "no digest arrived"
new=$(mktemp "$lib/.gate.XXXXXXXX") || fail "cannot write to $lib"
cat >"$new" || fail "cannot write $new"
echo "$sum  $new" | sha256sum -c --status || fail "the upload is incomplete"
chmod 0755 "$new"
sync "$new" || sync
mv -f "$new" "$lib/gate"
new=
sync "$lib" || sync
echo anthill-gate-installed
