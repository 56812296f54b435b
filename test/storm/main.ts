/**
 * Kills processes of real runs at random moments (docs/design/proof.md#the-storm): `npm run nightly -- storm --seed 3` one world,
 * `--kills 200` as many as it takes, each of which meets 25 kills.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { Effect } from "effect"
import { makeBundle } from "../harness/bundle.ts"
import { rage, type Storm } from "./storm.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    kills: { type: "string", default: "200" },
    runs: { type: "string", default: "1" },
    agent: { type: "string", default: "opencode" },
    /** Finished worlds are kept there, and not told again. */
    keep: { type: "string" },
    json: { type: "boolean", default: false }
  }
})

const say = (text: string): void => void process.stderr.write(`${text}\n`)

const killsInAWorld = 25
const agent = values.agent === "claude" ? "claude" : "opencode"
const kills = Number(values.kills)
const first = Number(values.seed)

const kept = (): ReadonlyArray<Storm> =>
  values.keep !== undefined && existsSync(values.keep) ? JSON.parse(readFileSync(values.keep, "utf8")) : []

const worlds = Array.from(
  { length: Math.max(1, Math.ceil(kills / killsInAWorld)) },
  (_, n) =>
    ({
      seed: first + n,
      agent,
      kills: Math.min(killsInAWorld, kills - n * killsInAWorld),
      runs: Number(values.runs)
    }) as const
)

const all = await Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      const bundle = yield* makeBundle
      const told = [...kept()]
      for (const world of worlds) {
        if (told.some((one) => one.seed === world.seed && one.agent === world.agent)) continue
        say(`world ${world.seed}: ${world.kills} kills, ${world.agent}`)
        const storm = yield* rage({ ...world, bundle, say: (line) => say(`  ${line}`) })
        told.push(storm)
        if (values.keep !== undefined) writeFileSync(values.keep, JSON.stringify(told))
      }
      return told
    })
  )
)

const sum = (of: (storm: Storm) => number) => all.reduce((total, storm) => total + of(storm), 0)
const violations = all.flatMap(({ seed, violations }) => violations.map((text) => `world ${seed}: ${text}`))

if (values.json) process.stdout.write(`${JSON.stringify(all)}\n`)
else {
  const kinds = [...new Set(all.flatMap(({ kills }) => Object.keys(kills)))] as ReadonlyArray<keyof Storm["kills"]>
  const rows: ReadonlyArray<readonly [string, string | number]> = [
    ["worlds", all.length],
    ["runs", sum(({ runs }) => runs)],
    ...kinds.map((kind) => [`kills: ${kind}`, sum(({ kills }) => kills[kind] ?? 0)] as const),
    ["calls of the model", sum(({ calls }) => calls)],
    ["prompts", sum(({ prompts }) => prompts)],
    ["commits", sum(({ commits }) => commits)],
    ["answers", sum(({ answers }) => answers)],
    ["minutes", (sum(({ elapsedMs }) => elapsedMs) / 60_000).toFixed(1)],
    [
      "largest store after a prune, KiB",
      Math.round(Math.max(0, ...all.flatMap(({ storeBytes }) => storeBytes)) / 1024)
    ],
    ["violations", violations.length]
  ]
  for (const [name, value] of rows) process.stdout.write(`${name.padEnd(34)} ${value}\n`)
}
for (const text of violations) process.stdout.write(`${text}\n`)
process.exitCode = violations.length > 0 ? 1 : 0
