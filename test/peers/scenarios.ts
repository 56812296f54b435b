/** What is measured of each peer in one round, each as a number; and the floor of the round. */

import type { ChildProcess } from "node:child_process"
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { family, taken } from "../bench/processes.ts"
import { kill, type Peer, payload, startProcess } from "./Peer.ts"
import type { Request } from "./process.ts"

/** Undefined: the peer has nothing of the kind. */
export interface Figures {
  readonly tenStepsMs: number
  readonly stepsPerSecond: number
  readonly processorTime: ProcessorTime
  readonly answerMs: number | undefined
  readonly workerKilled: Killed | undefined
  readonly serverKilled: Killed | undefined
}

/** Of a step while many chains run at once, in microseconds, those that the kernel needs for it among them. */
export interface ProcessorTime {
  readonly server: number
  readonly worker: number
  readonly client: number
}

/** What a kill -9 in mid-step led to. */
export interface Killed {
  /** From the kill until the next step began. */
  readonly recoveryMs: number
  /** Steps whose side effect happened more than once, and not at all. */
  readonly doubled: number
  readonly lost: number
}

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
}

/** Services run for long: chains until everything is compiled. */
const warmUp = 100
const chains = 40
const answers = 30
const atOnce = 32
const stepsAtOnce = 25
/** So often they run; the median counts. */
const timesAtOnce = 5
const killedSteps = 12
const stepMs = 150
const killAfter = 4

/** The median of appending as much as a step's result to a file, and writing it to disk. */
export const measureFloor = (): number => {
  const folder = mkdtempSync(join(tmpdir(), "reprise-floor-"))
  const file = openSync(join(folder, "floor"), "a")
  const times: Array<number> = []
  for (let n = 0; n < 300; n++) {
    const began = performance.now()
    writeSync(file, payload)
    fsyncSync(file)
    times.push(performance.now() - began)
  }
  closeSync(file)
  rmSync(folder, { recursive: true })
  return median(times)
}

let asked = 0

/** Has the client do something; completes with how long it took there. */
const ask = (client: ChildProcess, request: Omit<Request, "ask"> & Record<string, unknown>): Promise<number> =>
  new Promise((resolve, reject) => {
    const number = ++asked
    const listen = (answer: { readonly ask?: number; readonly ms?: number; readonly error?: string }) => {
      if (answer.ask !== number) return
      client.off("message", listen)
      if (answer.error === undefined) resolve(answer.ms ?? Number.NaN)
      else reject(new Error(answer.error))
    }
    client.on("message", listen)
    client.send({ ...request, ask: number })
  })

/** Lines of the append-only file: the step, and when it began. */
const effects = (file: string): ReadonlyArray<readonly [step: number, atMs: number]> =>
  readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      const [step, atMs] = line.split(" ").map(Number)
      return step === undefined || atMs === undefined ? [] : [[step, atMs] as const]
    })

const untilSteps = async (file: string, count: number): Promise<void> => {
  while (effects(file).length < count) await pause(5)
}

export const judge = (lines: ReadonlyArray<readonly [step: number, atMs: number]>, killedMs: number): Killed => {
  const counts = Array.from({ length: killedSteps }, (_, n) => lines.filter(([step]) => step === n + 1).length)
  const next = lines.find(([, atMs]) => atMs > killedMs)?.[1] ?? Number.NaN
  return {
    recoveryMs: next - killedMs,
    doubled: counts.filter((count) => count > 1).length,
    lost: counts.filter((count) => count === 0).length
  }
}

/** The seconds of processor time of a process and its descendants. */
const spentBy = (pid = 0): number => family(pid).reduce((sum, one) => sum + taken(one).cpuSeconds, 0)

const measureIn = async (peer: Peer, folder: string): Promise<Figures> => {
  const server = await peer.startServer(folder)
  const { address } = server
  let worker = await startProcess("worker", peer.name, address)
  await peer.register?.(address)
  const client = await startProcess("client", peer.name, address)
  let count = 0
  const id = () => `c${++count}`
  const one = (steps: number) => ask(client, { run: [{ id: id(), steps }] })

  for (let n = 0; n < warmUp; n++) await one(10)
  const ten: Array<number> = []
  for (let n = 0; n < chains; n++) ten.push(await one(10))

  const spent = () => ({ server: spentBy(server.pid()), worker: spentBy(worker.pid), client: spentBy(client.pid) })
  const before = spent()
  const many: Array<number> = []
  for (let n = 0; n < timesAtOnce; n++) {
    many.push(await ask(client, { run: Array.from({ length: atOnce }, () => ({ id: id(), steps: stepsAtOnce })) }))
  }
  const after = spent()
  const ofStep = (of: keyof ProcessorTime) => ((after[of] - before[of]) * 1e6) / (timesAtOnce * atOnce * stepsAtOnce)

  const answered: Array<number> = []
  const { canPark } = peer
  for (let n = 0; canPark && n < answers; n++) {
    const question = id()
    await ask(client, { park: question })
    answered.push(await ask(client, { answer: question }))
  }

  const killIn = async (strike: () => Promise<void>): Promise<Killed> => {
    const file = join(folder, `effects-${id()}`)
    writeFileSync(file, "", { mode: 0o666 })
    const ended = ask(client, { run: [{ id: id(), steps: killedSteps, file, stepMs }] })
    await untilSteps(file, killAfter)
    // In the middle of the step.
    await pause(stepMs / 2)
    const killedMs = Date.now()
    await strike()
    await ended
    return judge(effects(file), killedMs)
  }
  const killWorker = () =>
    killIn(async () => {
      await kill(worker)
      worker = await startProcess("worker", peer.name, address)
    })
  const killServer = () =>
    killIn(async () => {
      process.kill(server.pid(), "SIGKILL")
      await server.restart()
    })
  const { hasEffects } = peer
  const workerKilled = hasEffects ? await killWorker() : undefined
  const serverKilled = hasEffects ? await killServer() : undefined
  await kill(client)
  await kill(worker)
  await server.stop()
  return {
    tenStepsMs: median(ten),
    stepsPerSecond: (atOnce * stepsAtOnce * 1_000) / median(many),
    processorTime: { server: ofStep("server"), worker: ofStep("worker"), client: ofStep("client") },
    answerMs: canPark ? median(answered) : undefined,
    workerKilled,
    serverKilled
  }
}

/** One round of one peer, on a server and processes of its own. */
export const measure = async (peer: Peer): Promise<Figures> => {
  const folder = mkdtempSync(join(tmpdir(), `reprise-${peer.name}-`))
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755)
  try {
    return await measureIn(peer, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
  }
}
