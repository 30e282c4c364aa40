# Tells whether an installation that began here is still under way.
# Runs as sh -c between single quotes, so it has none itself.
lib=/usr/local/lib/anthill
if [ -d "$lib" ] && exec 9<"$lib" && command -v flock >/dev/null && ! flock -n 9; then
	echo anthill-gate-under-way
else
	echo anthill-gate-at-rest
fi
