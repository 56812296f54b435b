/** What each peer brings: a server that keeps the state, a worker that does the steps, and a client in another process. */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { appendFileSync } from "node:fs"
import { createServer, connect as dial } from "node:net"
import { setTimeout as pause } from "node:timers/promises"

/** The same result of every step of every peer. */
export const payload = "x".repeat(400)

/** A chain of steps. With a file, each step appends a line to it when it begins, and takes a while. */
export interface Chain {
  readonly id: string
  readonly steps: number
  readonly file?: string
  readonly stepMs?: number
}

/** One step of a chain: the side effect, then the time that it takes, then its result. */
export const doStep = async ({ file, stepMs }: Chain, step: number): Promise<string> => {
  if (file !== undefined) appendFileSync(file, `${step} ${Date.now()}\n`)
  if (stepMs !== undefined) await pause(stepMs)
  return payload
}

/** Where everything is, for the worker and the client. */
export type Address = Readonly<Record<string, string>>

export interface Server {
  readonly address: Address
  readonly pid: () => number
  /** Starts it again after it was killed, on the same data. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

export interface Client {
  /** Starts a chain, and waits for its end. */
  readonly run: (chain: Chain) => Promise<void>
  /** Starts what waits for an answer; completes when it waits. */
  readonly park?: (id: string) => Promise<void>
  /** Answers it, and completes when its end is seen. */
  readonly answer?: (id: string) => Promise<void>
}

export interface Peer {
  readonly name: string
  /** Whether something can wait for an answer. */
  readonly canPark: boolean
  /** Whether a step can have an effect outside, which a kill may repeat. */
  readonly hasEffects: boolean
  /** Why it cannot be measured here; undefined: it can. */
  readonly missing: () => string | undefined
  /** The versions, and when something is on disk. */
  readonly describe: () => string | Promise<string>
  readonly startServer: (folder: string) => Promise<Server>
  /** In a process of its own; completes when it takes work. */
  readonly work: (address: Address) => Promise<void>
  /** After the worker was started: what the server must be told. */
  readonly register?: (address: Address) => Promise<void>
  /** In another process of its own. */
  readonly client: (address: Address) => Promise<Client>
}

/** A port that was free a moment ago. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Completes when somebody listens on a port of this machine. */
export const untilListening = async (port: number): Promise<void> => {
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = dial(port, "127.0.0.1", () => {
        socket.destroy()
        resolve(true)
      })
      socket.on("error", () => resolve(false))
    })
  while (!(await isOpen())) await pause(10)
}

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()))

export const kill = async (child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
  child.kill(signal)
  await ended(child)
}

/** A server that is one program, which listens on a port. */
export const programServer = async (
  start: () => readonly [program: string, args: ReadonlyArray<string>],
  ports: ReadonlyArray<number>,
  address: Address,
  options: { readonly uid?: number; readonly stop?: NodeJS.Signals; readonly cwd?: string } = {}
): Promise<Server> => {
  const begin = async () => {
    const [program, args] = start()
    const child = spawn(program, args, {
      stdio: "ignore",
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid })
    })
    for (const port of ports) await untilListening(port)
    return child
  }
  let child = await begin()
  return {
    address,
    pid: () => child.pid ?? 0,
    restart: async () => {
      await ended(child)
      child = await begin()
    },
    stop: () => kill(child, options.stop ?? "SIGKILL")
  }
}

/** Another process of this benchmark, for the worker or the client of a peer; completes when it is ready. */
export const startProcess = (role: "client" | "worker", peer: string, address: Address): Promise<ChildProcess> =>
  new Promise((resolve, reject) => {
    const child = fork(new URL("process.ts", import.meta.url), [role, peer, JSON.stringify(address)], {
      stdio: ["ignore", "ignore", "inherit", "ipc"]
    })
    child.once("message", () => resolve(child))
    child.once("exit", (code) => reject(new Error(`the ${role} of ${peer} ended with ${code}`)))
  })
