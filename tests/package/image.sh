#!/usr/bin/env bash
# Builds packaging/Dockerfile, makes a town in the image's volume, starts the image as it is meant to be, asks it, stops it.
#   tests/package/image.sh
# With docker; where none answers, with buildah, which needs no daemon, but root.
#   JOBS=2                compilers at once
#   SPARK=off             without tables in Spark
#   STORAGE=/folder       buildah: keeps the layers there for the next time; otherwise nothing stays
#   DEBIAN_ROOT=/folder   buildah: a Debian 12 to build upon where no registry of images is reached; debootstrap makes it once
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
image=discreet-image-test # docker keeps it, as the cache of the next run
name=$image-$$
skip() { echo "image.sh: $*; skipped"; exit 77; }
fail() { tail -n 30 "$work/$1.log" >&2; echo "image.sh: $2" >&2; exit 1; } # whose log, what
finish() { set +e; end > /dev/null 2>&1; rm -rf --one-file-system "$work"; }
trap finish EXIT

if docker version > /dev/null 2>&1; then
  end() { docker rm -f "$name"; docker volume rm "$name"; }
  base() { docker image inspect "$1" || docker pull "$1"; }
  build() { docker build "$@"; }
  setting() { docker inspect -f "{{with .Config}}$1{{end}}" "$image"; }
  program() { docker run --rm -i -v "$name:/data" "$image" "$@"; }
  start() { docker run -d --name "$name" -p 127.0.0.1::5433 -p 127.0.0.1::8433 -v "$name:/data" "$image"; }
  inside() { docker exec "$name" "$@"; }
  outside() { "$@"; }
  port() { docker port "$name" "$1" | sed 's/.*://'; }
  status() { inside cat /proc/1/status; }
  stop() { docker stop -t 15 "$name" > /dev/null && return "$(docker inspect -f '{{.State.ExitCode}}' "$name")"; }
elif command -v buildah > /dev/null; then
  [ "$(id -u)" = 0 ] || skip "no docker answers, and buildah needs root"
  unshare --net ip link set lo up 2> /dev/null || skip "the container cannot have a network of its own (unshare, ip)"
  # Chroot needs neither a runtime nor a bridge; OCI's own format has no HEALTHCHECK.
  export BUILDAH_ISOLATION=chroot BUILDAH_FORMAT=docker
  buildah=(buildah --root "${STORAGE:-$work/storage}" --runroot "$work/run")
  # Ports of its own: a network with a loopback and nothing else, which a sleeping process holds.
  unshare --net sh -c 'ip link set lo up && exec sleep infinity' & network=$!
  end() { kill "$(server)"; kill "$network"; "${buildah[@]}" rm "$name"; umount -R "$work/storage/overlay"; }
  base() {
    "${buildah[@]}" inspect --type image "docker.io/library/$1" && return
    if [ -z "${DEBIAN_ROOT:-}" ]; then "${buildah[@]}" pull "docker.io/library/$1"; return; fi
    if [ ! -d "$DEBIAN_ROOT" ]; then
      debootstrap --variant=minbase bookworm "$DEBIAN_ROOT" || return
      cp -r /usr/local/share/ca-certificates "$DEBIAN_ROOT/usr/local/share/" || true # whom this machine trusts, npm has to
    fi
    "${buildah[@]}" from --name "$name" scratch && "${buildah[@]}" add "$name" "$DEBIAN_ROOT" / &&
      "${buildah[@]}" commit --rm "$name" "docker.io/library/$1"
  }
  build() { "${buildah[@]}" bud --layers --pull-never "$@" && "${buildah[@]}" from --pull-never --name "$name" "$image"; }
  setting() { "${buildah[@]}" inspect --type image -f "{{with .Docker.Config}}$1{{end}}" "$image"; }
  program() { inside "${entrypoint[@]}" "$@"; }
  start() { program "${command[@]}" & started=$!; }
  inside() { outside "${buildah[@]}" run "$name" -- "$@"; }
  outside() { nsenter --net="/proc/$network/ns/net" "$@"; }
  port() { echo "$1"; }
  server() { pgrep -x discreet --ns "$network" --nslist net; }
  status() { cat "/proc/$(server)/status"; }
  stop() { kill "$(server)" && wait "$started"; }
else
  skip "there is neither docker nor buildah"
fi

for debian in debian:12 debian:12-slim; do
  base "$debian" > "$work/base.log" 2>&1 || { tail -n 5 "$work/base.log"; skip "the base image $debian cannot be had"; }
done
build -f packaging/Dockerfile --build-arg "SPARK=${SPARK:=on}" ${JOBS:+--build-arg "JOBS=$JOBS"} -t "$image" . > "$work/build.log" 2>&1 || fail build "no image"
list() { setting "{{range .$1}}{{println .}}{{end}}" | sed '/^$/d'; }
mapfile -t entrypoint < <(list Entrypoint)
mapfile -t command < <(list Cmd)
mapfile -t health < <(list Healthcheck.Test)
echo "image: built; runs ${entrypoint[*]} ${command[*]} as $(setting '{{.User}}')"

export PGPASSWORD=correct-horse-battery
program town --out /data --people 2000 --seed 7 > "$work/town.log" 2>&1 || fail town "no town can be made in /data"
program user add analyst --policy /data/discreet.toml --budget 2,1e-7 --password-stdin <<< "$PGPASSWORD" > "$work/user.log" 2>&1 ||
  fail user "no user can be added"
token=$(program user token analyst --policy /data/discreet.toml 2> "$work/user.log") || fail user "no token can be had"
start > "$work/serve.log" 2>&1
for _ in $(seq 50); do if inside "${health[@]:1}" 2> "$work/health.log"; then break; fi; sleep 0.2; done
inside "${health[@]:1}" || fail serve "HEALTHCHECK does not find the server"
[ "$(status | sed -nE 's/^Uid:\t([0-9]+).*/\1/p'):" = "$(setting '{{.User}}' | sed 's/:.*/:/')" ] || fail serve "the server is somebody else"
outside curl -sS --fail-with-body "http://127.0.0.1:$(port 8433)/v1/query" -H "Authorization: Bearer $token" \
  -d '{"sql":"select count(*) as people from people","epsilon":0.5}' > "$work/answer.log" 2>&1 || fail answer "no answer over HTTP"
echo "$(< "$work/answer.log")"
if command -v psql > /dev/null; then
  outside psql -h 127.0.0.1 -p "$(port 5433)" -U analyst -d discreet -c "select sex, count(*) from people group by sex" ||
    fail serve "no answer to psql"
fi
# A program with Spark tries to reach the server; one without says so. Nothing listens at port 1.
inside bash -c 'mkdir /tmp/spark && printf "%s\n" "[tables.visits]" "source = \"spark://127.0.0.1:1/hospital.visits\"" "unit = \"patient_id\"" \
  "[budgets.default]" "epsilon = 1.0" "delta = 1e-8" > /tmp/spark/discreet.toml && cd /tmp/spark && discreet query "select count(*) from visits"' \
  > "$work/spark.log" 2>&1 && fail spark "a table in a Spark that is not there was answered"
case $SPARK in off) says='built without Spark' ;; *) says='Spark Connect at 127.0.0.1:1 cannot be reached' ;; esac
grep "$says" "$work/spark.log" || fail spark "with SPARK=$SPARK the image was to say: $says"
stop || fail serve "SIGTERM did not end it cleanly"
echo "image: asked through its ports, ended by SIGTERM"
