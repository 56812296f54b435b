import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { isWithin, type Mount } from "../src/policy/mounts.ts"
import { type Policy, policyFor, type Surroundings } from "../src/policy/policy.ts"

const workspace = "/home/me/work"
const none = { write: [], read: [], deny: [], network: [] }

/** Few names, so that places lie in each other often. */
const Name = Schema.Literals(["a", "b", "c"])
const Base = Schema.Literals(["", "/home", "/home/me", workspace, `${workspace}/.git`, "/tmp", "/srv/data"])
const Place = Schema.Struct({ base: Base, names: Schema.Array(Name) })
const Places = Schema.Array(Place)
const Case = Schema.Struct({
  write: Places,
  read: Places,
  hidden: Schema.Array(Schema.Struct({ place: Place, kind: Schema.Literals(["file", "folder"]) })),
  sockets: Places,
  commandFiles: Places,
  executable: Places,
  top: Schema.Literals([workspace, "/tmp/a/b/work", "/home/me/work/.reprise/worktrees/r1"])
})

const pathOf = ({ base, names }: typeof Place.Type) => [base, ...names.slice(0, 4)].join("/") || "/"

const around = (made: typeof Case.Type): Surroundings => {
  const state = made.top.includes("/.reprise/") ? `${workspace}/.reprise` : `${made.top}/.reprise`
  const git = made.top.includes("/.reprise/") ? `${workspace}/.git` : `${made.top}/.git`
  const paths = (places: typeof Places.Type) => places.map(pathOf).filter((path) => path !== "/")
  return {
    home: "/home/me",
    workspace: made.top,
    stateDirectory: state,
    temporary: `${state}/sandbox/temporary/1`,
    caches: `${state}/sandbox/caches`,
    cachesFrom: `${state}/sandbox/caches/1/agents`,
    refused: `${state}/sandbox/refused`,
    git: {
      directory: git,
      common: git,
      executable: paths(made.executable),
      obeyed: []
    },
    hidden: made.hidden.map(({ kind, place }) => ({ kind, path: pathOf(place) })).filter(({ path }) => path !== "/"),
    listed: [],
    write: made.write.map(pathOf),
    read: paths(made.read),
    startup: [],
    commandFiles: paths(made.commandFiles),
    anchors: { folders: [], links: [], missing: [] },
    present: [],
    sockets: paths(made.sockets),
    registries: []
  }
}

const at = (mounts: ReadonlyArray<Mount>, path: string) => mounts.findLast((mount) => isWithin(path, mount.path))

/** From the top down to the path itself. */
const waysTo = (path: string): ReadonlyArray<string> =>
  path
    .split("/")
    .slice(1)
    .map((_, index, names) => `/${names.slice(0, index + 1).join("/")}`)

/** What a command could rename, and put a link in its place, on the way to what is mounted, or to where. */
const exchangeable = ({ mounts }: Policy): ReadonlyArray<string> => {
  const isFixed = (path: string) => {
    const seen = at(mounts, path)
    return seen === undefined || seen.as !== "writable" || seen.path === path
  }
  const isSeen = (path: string) => at(mounts, path)?.from === undefined
  return mounts.flatMap(({ from, path }) => [
    ...waysTo(path).filter((one) => !isFixed(one)),
    ...(from === undefined ? [] : waysTo(from).filter((one) => isSeen(one) && !isFixed(one)))
  ])
}

describe("what is mounted", () => {
  it.prop("has nothing on its way that a command could put a link in the place of", [Case], ([made]) => {
    assert.deepStrictEqual(exchangeable(policyFor(around(made), none, "author")), [])
  })

  it.prop(
    "shows nothing of a hidden folder, or of the machine's temporary one, but what was named",
    [Case],
    ([made]) => {
      const given = around(made)
      const { git, write, read, caches } = given
      const named = [given.home, given.workspace, git?.common, caches, ...write, ...read]
      const { mounts } = policyFor(given, none, "author")
      const shown = mounts.filter(({ as, from, path }, index) => {
        const above = at(mounts.slice(0, index), path)
        const isHiding = above?.as === "hidden-folder" || above?.from !== undefined
        return (as === "readable" || (as === "writable" && from === undefined)) && isHiding
      })
      assert.deepStrictEqual(
        shown.map(({ path }) => path).filter((path) => !named.includes(path)),
        []
      )
    }
  )
})
