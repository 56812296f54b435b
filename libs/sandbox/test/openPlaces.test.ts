import { assert, describe, it } from "@effect/vitest"
import { isOpenPlace } from "../src/policy/openPlaces.ts"

const bounds = {
  home: "/home/me",
  workspace: "/home/me/work",
  stateDirectory: "/home/me/work/.reprise",
  closed: ["/home/me/.ssh", "/home/me/keys/age", "/home/me/work/.git", "/srv/denied", "/home/me/tools/a"]
}

const asked = [
  "/home/me/data",
  "/home/me/data/a.txt",
  "/home/me/.cache/tool",
  "/srv/data",
  "/mnt/disk/a",
  "/home/other/a"
]

const neverAsked: ReadonlyArray<readonly [string, string]> = [
  ["a key", "/home/me/.ssh/id_ed25519"],
  ["a folder above keys", "/home/me/keys"],
  ["what is denied", "/srv/denied/a"],
  ["a folder above what is denied", "/srv"],
  ["the home folder", "/home/me"],
  ["a folder above it", "/home"],
  ["everything", "/"],
  ["what a shell runs when it starts", "/home/me/.bashrc"],
  ["settings of programs", "/home/me/.config/autostart"],
  ["programs of the user", "/home/me/bin/tool"],
  ["other programs of the user", "/home/me/.local/bin/tool"],
  ["programs of a language", "/home/me/miniconda3/bin"],
  ["programs of another language", "/home/me/.cache/tool/shims/a"],
  ["a folder of PATH", "/home/me/tools/a"],
  ["a folder above one of PATH", "/home/me/tools"],
  ["all caches at once", "/home/me/.cache"],
  ["a program of the system", "/usr/local/bin/tool"],
  ["a program beside the system's", "/opt/tool"],
  ["a crontab", "/var/spool/cron/crontabs"],
  ["settings of the system", "/etc/hosts"],
  ["git's folder of another repository", "/home/me/other/.git/hooks"],
  ["Reprise's state in another repository", "/home/me/other/.reprise/endpoint.json"],
  ["settings of agents in another repository", "/home/me/other/.Claude/settings.json"],
  ["settings of Reprise in another repository", "/home/me/other/reprise.toml"],
  ["the hooks of the workspace", "/home/me/work/.git/hooks"],
  ["the workspace's own state", "/home/me/work/.reprise/sandbox"],
  ["a file of the workspace", "/home/me/work/src/a.ts"],
  ["a folder above the workspace", "/home/me"]
]

describe("a place in which a command wants to write", () => {
  it.each(asked)("is asked about: %s", (path) => {
    assert.isTrue(isOpenPlace({ path }, bounds))
  })

  it.each(neverAsked)("is never asked about, being %s: %s", (_, path) => {
    assert.isFalse(isOpenPlace({ path }, bounds))
  })
})
