/** That what the machine mounts while a command runs is nothing of the command's. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isolation, readOnlySystem, startOf } from "../src/command/bubblewrap.ts"
import { quoted } from "../src/command/shellWords.ts"
import { findUsability } from "../src/index.ts"
import { canSandbox } from "../src/testing/index.ts"

const sandboxed = await canSandbox()

/** A machine of its own, which shares its mounts as systemd's does. */
const asMachine = ["--user", "--map-root-user", "--mount", "--propagation", "shared", "--"]

const inside = `echo began; read -r _; cat vault/key; echo written >vault/key`

const mountingMeanwhile = (command: ReadonlyArray<string>) => `
mkfifo in out
${command.map(quoted).join(" ")} <in >out 2>&1 &
exec 3>in 4<out
read -r _ <&4
mount -t tmpfs vault vault && echo secret >vault/key
echo >&3
cat <&4
wait
echo "outside: $(cat vault/key)"
`

const whileMounting = Effect.fnUntraced(function* (folder: string, isApart: boolean, isEnclosed: boolean) {
  const usability = yield* findUsability(process.env)
  const bubblewrap = usability._tag === "usable" ? usability.programs.bubblewrap : undefined
  assert.isDefined(bubblewrap?.unshare, "unshare cannot be used here")
  if (bubblewrap?.unshare === undefined) return ""
  const { path, unshare } = bubblewrap
  const start = startOf({ path, isEnclosed, ...(isApart ? { unshare } : {}) })
  const visible = ["--bind", folder, folder, "--chdir", folder]
  const script = mountingMeanwhile([
    ...start,
    ...isolation,
    ...readOnlySystem,
    ...visible,
    "--",
    "/bin/sh",
    "-c",
    inside
  ])
  mkdirSync(join(folder, "vault"))
  return spawnSync(unshare, [...asMachine, "/bin/sh", "-c", script], { cwd: folder, encoding: "utf8" }).stdout
})

const inFolder = <A, E>(use: (folder: string) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-mounts-"))),
    use,
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

describe.skipIf(!sandboxed)("what is mounted while a command runs", () => {
  it.live.each([true, false])("is neither read nor written by the command (inside of itself: %s)", (isEnclosed) =>
    inFolder((folder) =>
      Effect.gen(function* () {
        const said = yield* whileMounting(folder, true, isEnclosed)
        assert.match(said, /vault\/key: No such file/)
        assert.match(said, /outside: secret/)
      })
    )
  )

  it.live("would be, where bubblewrap starts without a namespace around it", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        assert.match(yield* whileMounting(folder, false, true), /^secret\n(.|\n)*outside: written/)
      })
    )
  )
})
