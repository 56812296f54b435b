/** A shell at a pseudo-terminal, made by `script` of util-linux: what is typed at it, and what its human sees. */
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { bundle } from "./bundle.ts"
import { launcher } from "./Command.ts"
import { screenOf } from "./screenOf.ts"
import type { World } from "./World.ts"
import { waitUntil } from "./waitUntil.ts"

export type ShellName = "bash" | "zsh" | "fish"

/** Prints that the tests with a shell are skipped where it is not installed. */
export const lacks = (shell: ShellName): boolean => {
  const isMissing = spawnSync(shell, ["-c", "true"]).status !== 0
  if (isMissing) process.stdout.write(`completion tests: skipped, no ${shell}\n`)
  return isMissing
}

const size = { columns: 120, rows: 30 }

/** Without anybody's own settings, and with a prompt that is known. */
const calls: Readonly<Record<ShellName, string>> = {
  bash: "bash --noprofile --norc -i",
  zsh: "zsh -f -i",
  fish: "fish --no-config -i"
}

const preparations: Readonly<Record<ShellName, (file: string) => string>> = {
  bash: (file) =>
    `PS1='ready> '; bind 'set enable-bracketed-paste off'; bind 'set show-all-if-ambiguous on'; source ${file}`,
  zsh: (file) => `PS1='ready> '; autoload -U compinit; compinit -u -D; setopt no_list_ambiguous; source ${file}`,
  fish: (file) => `function fish_prompt; echo -n 'ready> '; end; source ${file}`
}

export interface Shell {
  readonly type: (text: string) => void
  /** Waits until the screen shows this, and returns its rows. */
  readonly sees: (pattern: RegExp) => Effect.Effect<string>
}

/** A shell in the world's repository that has loaded the completion script, with `reprise` on its path. */
export const shellIn = Effect.fnUntraced(function* (world: World, shell: ShellName) {
  const program = (yield* bundle)?.launcher ?? launcher
  const folder = join(world.root, "..", "shell")
  mkdirSync(folder, { recursive: true })
  const { stdout: script } = yield* world.reprise("completion", shell)
  const file = join(folder, `completion.${shell}`)
  writeFileSync(file, script)
  writeFileSync(join(folder, "reprise"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 })
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(
        "script",
        [
          "--quiet",
          "--flush",
          "--return",
          "--command",
          `stty cols ${size.columns} rows ${size.rows}; exec ${calls[shell]}`,
          "/dev/null"
        ],
        {
          cwd: world.root,
          env: { ...world.environment, TERM: "xterm-256color", PATH: `${folder}:${world.environment["PATH"]}` },
          stdio: ["pipe", "pipe", "pipe"]
        }
      )
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text
  })
  const type = (text: string) => void child.stdin.write(text)
  const sees = (pattern: RegExp) =>
    waitUntil(
      Effect.map(
        Effect.suspend(() => screenOf(output, size)),
        (rows) => (pattern.test(rows.join("\n")) ? rows.join("\n") : undefined)
      )
    )
  type(`${preparations[shell](file)}\n`)
  type("echo loa''ded\n")
  yield* sees(/^loaded$[\s\S]*^ready> $/m)
  return { type, sees } satisfies Shell
})
