/** What the sandbox costs each command, compared with a plain shell, and a build of a thousand small commands. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import { layerSandbox, Sandbox } from "@reprise/sandbox"
import { Effect } from "effect"

const rounds = 101
/** The same inside and outside: one shell starts commands faster than another. */
const plain = "/bin/bash"
const build = "i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i+1)); done"

const milliseconds = (shell: string, command: string, directory: string): number => {
  const started = performance.now()
  const { status } = spawnSync(shell, ["-c", command], { cwd: directory, stdio: "ignore" })
  if (status !== 0) throw new Error(`${shell} ended with ${status}`)
  return performance.now() - started
}

const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** The shells take turns, so that what else the machine does hits all of them. */
const medians = (shells: Readonly<Record<string, string>>, command: string, directory: string, count: number) => {
  const measured = Object.entries(shells).map(([name, shell]) => ({ name, shell, times: [] as number[] }))
  for (let round = 0; round < count; round++) {
    for (const { shell, times } of measured) times.push(milliseconds(shell, command, directory))
  }
  return measured.map(({ name, times }) => ({ name, ms: median(times) }))
}

const measure = (directory: string) =>
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    if (sandbox.standing._tag !== "used") {
      const { standing } = sandbox
      return process.stdout.write(standing._tag === "off" ? "off\n" : `${standing.reason}\n`)
    }
    const shells = {
      "a plain shell": plain,
      "the sandbox, reaching nothing": yield* sandbox.shellFor(directory, "reviewer"),
      "the sandbox, reaching registries": yield* sandbox.shellFor(directory, "author")
    }
    const [floor, ...others] = medians(shells, "echo .", directory, rounds)
    process.stdout.write(`a command in ${floor?.name}: ${floor?.ms.toFixed(1)} ms\n`)
    for (const { ms, name } of others) {
      process.stdout.write(`a command in ${name}: ${ms.toFixed(1)} ms, ${(ms - (floor?.ms ?? 0)).toFixed(1)} ms more\n`)
    }
    const [without, ...within] = medians(shells, build, directory, 7)
    process.stdout.write(`a build of 1 000 commands in ${without?.name}: ${without?.ms.toFixed(0)} ms\n`)
    for (const { ms, name } of within) {
      process.stdout.write(`a build in ${name}: ${ms.toFixed(0)} ms, ${(ms / (without?.ms ?? 0)).toFixed(2)} ×\n`)
    }
  })

export const sandbox = async (): Promise<void> => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "reprise-bench-")))
  writeFileSync(join(directory, "package.json"), "{}")
  const settings = { write: [], read: [], deny: [], network: [] }
  const environment = { ...process.env, SHELL: plain }
  const stateDirectory = join(directory, ".reprise")
  const layer = layerSandbox({ mode: "required", gates: true, settings, stateDirectory, environment })
  try {
    await Effect.runPromise(Effect.provide(measure(directory), layer))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
