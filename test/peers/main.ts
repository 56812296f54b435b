/**
 * `npm run bench peers`: Reprise beside engines for durable execution, on this machine, in one go. It installs them beside
 * this file, if they are not there; they are not part of the repository's own install.
 */
import { cpus, totalmem } from "node:os"
import { installFolder } from "../../house/src/installFolder.ts"
import type { Peer } from "./Peer.ts"
import { peers } from "./peers.ts"
import { type Figures, type Killed, measure, measureFloor, median } from "./scenarios.ts"

const rounds = Number(process.env["REPRISE_BENCH_ROUNDS"] ?? 3)
const say = (text: string) => process.stdout.write(`${text}\n`)

interface Measured {
  readonly peer: Peer
  readonly figures: Array<Figures>
}

const digits = (value: number): string => value.toFixed(value < 100 ? 1 : 0)

/** The median of the rounds, and the smallest and the largest. */
const spread = (values: ReadonlyArray<number>): string =>
  `${digits(median(values))} (${digits(Math.min(...values))}–${digits(Math.max(...values))})`

const cell = (values: ReadonlyArray<number | undefined>, ratio: (value: number) => number, unit: string): string => {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? "–" : `${spread(known)} ${unit}, ${digits(ratio(median(known)))} ×`
}

const killedCell = (measured: ReadonlyArray<Killed | undefined>): string => {
  const all = measured.filter((one) => one !== undefined)
  if (all.length === 0) return "–"
  const seconds = all.map(({ recoveryMs }) => recoveryMs / 1_000)
  const sum = (of: "doubled" | "lost") => all.reduce((total, one) => total + one[of], 0)
  return `${spread(seconds)} s; ${sum("doubled")} doubled, ${sum("lost")} lost`
}

const row = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`

const printTable = (all: ReadonlyArray<Measured>, floorMs: number): void => {
  say(row(["", ...all.map(({ peer }) => peer.name)]))
  say(row(["---", ...all.map(() => "---")]))
  const line = (name: string, of: (figures: ReadonlyArray<Figures>) => string) =>
    say(row([name, ...all.map(({ figures }) => of(figures))]))
  line("10 steps one after the other", (all) =>
    cell(
      all.map(({ tenStepsMs }) => tenStepsMs),
      (ms) => ms / floorMs / 10,
      "ms"
    )
  )
  line("32 chains at once", (all) =>
    cell(
      all.map(({ stepsPerSecond }) => stepsPerSecond),
      (perSecond) => 1_000 / perSecond / floorMs,
      "steps/s"
    )
  )
  for (const part of ["server", "worker", "client"] as const) {
    line(
      `processor time of such a step: ${part}`,
      (all) => `${spread(all.map(({ processorTime }) => processorTime[part]))} µs`
    )
  }
  line("parked, answered, until its end is seen", (all) =>
    cell(
      all.map(({ answerMs }) => answerMs),
      (ms) => ms / floorMs,
      "ms"
    )
  )
  line("kill -9 of the worker in mid-step", (all) => killedCell(all.map(({ workerKilled }) => workerKilled)))
  line("kill -9 of the server in mid-step", (all) => killedCell(all.map(({ serverKilled }) => serverKilled)))
}

/** `names`: only these peers. */
export const comparePeers = async (names: ReadonlyArray<string> = []): Promise<void> => {
  if (!installFolder("test/peers", "the peers (250 MB)")) throw new Error("The peers could not be installed.")
  say(
    `${cpus().length} processors (${cpus()[0]?.model ?? "unknown"}), ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.version}, ${rounds} rounds`
  )
  const all: Array<Measured> = []
  for (const peer of peers.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const missing = peer.missing()
    if (missing !== undefined) say(`SKIPPED ${peer.name}: ${missing}`)
    else {
      say(`${peer.name}: ${await peer.describe()}`)
      all.push({ peer, figures: [] })
    }
  }
  const floors: Array<number> = []
  for (let round = 1; round <= rounds; round++) {
    for (const { figures, peer } of all) {
      floors.push(measureFloor())
      figures.push(await measure(peer))
      say(`round ${round}, ${peer.name}: floor ${floors.at(-1)?.toFixed(2)} ms, ${JSON.stringify(figures.at(-1))}`)
    }
  }
  const floorMs = median(floors)
  say(
    `\nFloor: 400 bytes appended and synced to disk, ${floors.length} times 300: ${Math.min(...floors).toFixed(2)}–${Math.max(...floors).toFixed(2)} ms, median ${floorMs.toFixed(2)} ms.`
  )
  say("Median of the rounds (smallest–largest); × is the time of a step, or of an answer, in floors.\n")
  printTable(all, floorMs)
}

if (import.meta.main) await comparePeers(process.argv.slice(2))
