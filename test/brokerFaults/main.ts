/**
 * Tells stories of the five services on a real broker (docs/design/proof.md): `npm run nightly -- broker-faults --seed 7` one, with
 * all that was stored; `--from 0 --count 200` many, four at a time.
 */
import { parseArgs } from "node:util"
import { Effect } from "effect"
import { planOf, planText } from "./plan.ts"
import { tell } from "./story.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    from: { type: "string", default: "0" },
    count: { type: "string", default: "50" },
    atOnce: { type: "string", default: "4" }
  }
})

const say = (text: string): void => void process.stdout.write(`${text}\n`)

const longestBody = 160

const tellSeed = (seed: number, isShown: boolean) =>
  Effect.gen(function* () {
    const plan = planOf(seed)
    const { elapsedMs, ends, faults, record, violations } = yield* Effect.scoped(tell(plan))
    if (isShown) {
      const stored = record.flatMap(({ atMs, body, kind, subject, type }) =>
        kind === "journal" ? [] : [{ atMs, text: `${kind} ${type} ${subject} ${body.slice(0, longestBody)}` }]
      )
      for (const { atMs, text } of [...stored, ...faults].toSorted((one, other) => one.atMs - other.atMs)) {
        say(`${String(atMs).padStart(6)} ms ${text}`)
      }
    }
    say(`${planText(plan)}: ${faults.length} faults, ${ends.join(", ")}, ${elapsedMs} ms`)
    for (const violation of violations) say(`  ${violation.slice(0, 2_000)}`)
    return violations.length > 0
  }).pipe(
    Effect.catchCause((cause) => Effect.sync(() => say(`${planText(planOf(seed))}: ${cause}`)).pipe(Effect.as(true)))
  )

const [from, count] = values.seed === undefined ? [Number(values.from), Number(values.count)] : [Number(values.seed), 1]
const seeds = Array.from({ length: count }, (_, n) => from + n)
const failed = await Effect.runPromise(
  Effect.forEach(seeds, (seed) => tellSeed(seed, values.seed !== undefined), { concurrency: Number(values.atOnce) })
)
say(`${failed.filter(Boolean).length} of ${count} stories are wrong`)
process.exitCode = failed.includes(true) ? 1 : 0
