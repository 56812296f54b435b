import { assert, describe, it } from "@effect/vitest"
import { ownFolders } from "../src/policy/ownFolders.ts"

const usual = [".cache", ".config", ".local/share", ".local/state"]
const below = (owner: string) => usual.map((folder) => `/home/me/${folder}/${owner}`)

describe("the folders of Reprise and OpenCode", () => {
  it.each(["reprise", "opencode"] as const)("are in the home folder: %s", (owner) => {
    assert.deepStrictEqual(ownFolders({}, "/home/me")[owner], below(owner))
    assert.deepStrictEqual(ownFolders({ XDG_CACHE_HOME: "cache", XDG_DATA_HOME: "" }, "/home/me")[owner], below(owner))
  })

  it.each(["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"])(
    "are where %s says, too",
    (variable) => {
      const { opencode, reprise } = ownFolders({ [variable]: "/x" }, "/home/me")
      assert.sameMembers([...reprise], [...below("reprise"), "/x/reprise"])
      assert.sameMembers([...opencode], [...below("opencode"), "/x/opencode"])
    }
  )
})
