/** What a command is shown when a folder on the way to a mount is exchanged with a link at the moment of the mount. */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { proxySocket, readOnlySystem, type Words } from "../src/command/bubblewrap.ts"
import { checkingMounts, expectedMounts, findingAwk, givingMounts } from "../src/command/mountCheck.ts"
import { quoted } from "../src/command/shellWords.ts"
import { canSandbox } from "../src/testing/index.ts"

const sandboxed = await canSandbox()

const place = Effect.acquireRelease(
  Effect.sync(() => {
    const top = realpathSync(mkdtempSync(join(tmpdir(), "reprise-mounts-")))
    for (const folder of ["home/.keys", "work/a b/x", "work/back\\slash", "gone"])
      mkdirSync(join(top, folder), { recursive: true })
    writeFileSync(join(top, "home/.keys/config"), "key")
    writeFileSync(join(top, "work/a b/x/config"), "plain")
    writeFileSync(join(top, "socket"), "")
    return top
  }),
  (top) => Effect.sync(() => rmSync(top, { recursive: true, force: true }))
)

const bind = (path: string, from = path) => ["--bind-try", from, path]

/** A home folder of which a list is shown, and a workspace with places in it that commands may not write. */
const words = (top: string, more: ReadonlyArray<string> = []): ReadonlyArray<Words> => [
  { words: ["--unshare-user", ...readOnlySystem] },
  { words: ["--bind", join(top, "socket"), proxySocket] },
  {
    words: [
      ...["--tmpfs", join(top, "home"), ...bind(join(top, "work")), ...bind(join(top, "work/a b"))],
      ...[
        ...bind(join(top, "work/a b/x/config")),
        ...bind(join(top, "work/absent")),
        ...bind(join(top, "work/back\\slash"))
      ],
      ...["--tmpfs", join(top, "gone"), "--symlink", "elsewhere", join(top, "home/link"), ...more]
    ]
  },
  { words: ["--remount-ro", join(top, "home")] }
]

/** What a command says that is given some mounts, while others are expected. */
const shown = (given: ReadonlyArray<Words>, expected: ReadonlyArray<Words>, command: string) =>
  Effect.callback<string>((resume) => {
    const { afterLine, descriptor } = givingMounts(expected)
    const bwrap = ["bwrap", ...given.flatMap((one) => one.words)].map(quoted).join(" ")
    const script = `${findingAwk}${bwrap} -- /bin/sh -c ${quoted(`${checkingMounts}${command}`)}${descriptor}\n${afterLine}`
    execFile("/bin/sh", ["-c", script], (_, stdout, stderr) => resume(Effect.succeed(stdout + stderr)))
  })

describe.skipIf(!sandboxed)("a mount of a command", () => {
  it.live("is expected where it lies, whatever its path, and may be missing where that is gone", () =>
    Effect.gen(function* () {
      const top = yield* place
      assert.strictEqual(yield* shown(words(top), words(top), "echo began"), "began\n")
    })
  )

  it.live.each([
    ["over the list of a home folder", "home", "home"],
    ["inside of what is hidden", "home/.keys", "home/.keys"],
    ["over the workspace", "work", "work"],
    ["with what is hidden in its place", "home/.keys/config", "work/a b/x/config"],
    ["with another file of the workspace in its place", "work/a b/x", "work/back\\slash"],
    ["over one that is expected later", "gone", "gone"]
  ] as const)("lets no command begin where it lies %s", ([, from, at]) =>
    Effect.gen(function* () {
      const top = yield* place
      const other = [{ words: bind(join(top, at), join(top, from)) }]
      const last = words(top).length - 1
      const given = [...words(top).slice(0, last), ...other]
      const said = yield* shown(given, words(top), "echo began")
      assert.match(said, /^reprise: what is mounted at \S+.* is not what should be there/)
    })
  )

  it.live("lets no command begin where a link on its way leads elsewhere", () =>
    Effect.gen(function* () {
      const top = yield* place
      const expected = words(top, bind(join(top, "work/made")))
      symlinkSync("../home", join(top, "work/made"))
      const said = yield* shown(expected, expected, `cat '${top}/home/.keys/config'`)
      assert.include(said, "is not what should be there")
      assert.notInclude(said, "key\n")
    })
  )

  it("is listed with its path as the kernel writes it", () => {
    assert.strictEqual(
      expectedMounts([
        {
          words: ["--bind", "/s", proxySocket, "--tmpfs", "/a b", "--symlink", "x", "/y", "--ro-bind", "/c\\d", "/c\\d"]
        }
      ]),
      "+ /a\\040b\n= /c\\134d\n"
    )
  })
})
