/** Files in the git directory of a repository inside of the workspace that its user's next commit obeys, whatever is committed. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, scene } from "../src/testing/index.ts"
import { make } from "./support/nestedCommands.ts"
import { during, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const someHash = "1".repeat(40)

/** Keys of the home folder can be read by nobody inside; the user's git would copy one to where commands can. */
const resolution = (folder: string) =>
  `mkdir -p ${folder}/rr-cache/${someHash}; echo pre >${folder}/rr-cache/${someHash}/preimage; printf '${someHash}\\t../home/.ssh/id_ed25519\\0' >${folder}/MERGE_RR`

describe.skipIf(!sandboxed)("what a commit obeys in git's folder", () => {
  it.live.each([
    ["files in which conflicts were resolved", resolution("nested/.git")],
    ["changes to be unpacked", "git rev-parse HEAD >nested/.git/MERGE_AUTOSTASH"]
  ])("has a repository inside of the workspace moved: %s", ([, command]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const said = yield* during(here, (sandbox) => runIn(here, sandbox, `${make("nested")}; ${command}`))
      assert.include(said, "nested/.git was moved")
    })
  )
})
