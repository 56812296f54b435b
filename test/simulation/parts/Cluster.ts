/** The processes of the services: started, killed and started again; and what happens on their connections. */
import type { BrokerShape } from "@reprise/actor"
import type { ServiceName } from "@reprise/protocol"
import { type Machine, Process } from "../machine/Machine.ts"
import { type Fault, services } from "../world/faults.ts"
import { type Connection, connect, type Fates } from "./connection.ts"
import { type Surroundings, startService } from "./services.ts"

interface Replica {
  readonly process: Process
  /** Whether it does the work of the host, beside running actors. */
  readonly works: boolean
  readonly connection: Connection
}

/** Changes what a process sees of the broker. A planted bug does. */
export type Seam = (
  broker: BrokerShape,
  of: { readonly service: ServiceName; readonly process: Process; readonly restarted: boolean }
) => BrokerShape

export interface ClusterOptions {
  readonly machine: Machine
  readonly server: Process
  readonly broker: BrokerShape
  readonly replicas: number
  readonly snapshotEvery: number
  readonly faults: ReadonlyArray<Fault>
  readonly surroundings: (service: ServiceName, process: Process) => Surroundings
  readonly seam: Seam
  readonly onKilled: (service: ServiceName) => void
  /** A fault happened. */
  readonly onFault: (fault: Fault) => void
}

const supervisorMs = 50

export class Cluster {
  readonly #options: ClusterOptions
  readonly #running = new Map<ServiceName, Array<Replica>>()
  readonly #calls = new Map<ServiceName, number>()
  readonly #deliveries = new Map<ServiceName, number>()
  /** Faults of calls and deliveries, by service and number. */
  readonly #planned = new Map<string, Fault>()
  #down = 0
  kills = 0
  /** Nothing goes wrong any more. */
  healed = false

  constructor(options: ClusterOptions) {
    this.#options = options
    for (const fault of options.faults) {
      if ("call" in fault && "service" in fault) this.#planned.set(`call ${fault.service} ${fault.call}`, fault)
      if ("delivery" in fault) this.#planned.set(`delivery ${fault.service} ${fault.delivery}`, fault)
    }
  }

  startAll(): void {
    for (const service of services) {
      for (let n = 0; n < this.#options.replicas; n++) this.#start(service, n === 0)
    }
  }

  #start(service: ServiceName, works: boolean, restarted = false): void {
    const { broker, machine, seam, server, snapshotEvery, surroundings } = this.#options
    const process = new Process(machine, service)
    const connection = connect(machine, broker, server, process, this.#fatesOf(service, process))
    this.#running.set(service, [...(this.#running.get(service) ?? []), { process, works, connection }])
    const seen = seam(connection.broker, { service, process, restarted })
    startService({
      process,
      service,
      works,
      broker: seen,
      snapshotEvery,
      surroundings: surroundings(service, process),
      onEnded: () => this.kill(service, 0, process)
    })
  }

  /** Kills one process of a service; it is started again after a while. */
  kill(service: ServiceName, downMs: number, process?: Process): void {
    const { machine, onKilled, server } = this.#options
    const running = this.#running.get(service) ?? []
    const replica = running.find((one) => process === undefined || one.process === process)
    if (replica === undefined) return
    this.#running.set(
      service,
      running.filter((one) => one !== replica)
    )
    this.kills += 1
    this.#down += 1
    replica.process.kill()
    machine.after(server, 1, replica.connection.close)
    onKilled(service)
    machine.after(server, supervisorMs + downMs, () => {
      this.#down -= 1
      this.#start(service, replica.works, true)
    })
  }

  killAll(downMs: number): void {
    for (const [service, running] of this.#running) {
      for (const { process } of running) this.kill(service, downMs, process)
    }
  }

  /** Whether every process runs, and no fault holds up what it asked for. */
  get isUp(): boolean {
    if (this.#down > 0) return false
    for (const running of this.#running.values()) {
      const { nowMs } = this.#options.machine
      if (running.some(({ connection, process }) => process.frozenUntilMs > nowMs || connection.isSlow())) return false
    }
    return true
  }

  freeze(service: ServiceName, ms: number): void {
    this.#running.get(service)?.[0]?.process.freeze(ms)
  }

  jumpClock(service: ServiceName, ms: number): void {
    for (const { process } of this.#running.get(service) ?? []) process.clockAheadMs += ms
  }

  #next(counts: Map<ServiceName, number>, service: ServiceName): number {
    const count = counts.get(service) ?? 0
    counts.set(service, count + 1)
    return count
  }

  #take(name: string): Fault | undefined {
    const fault = this.healed ? undefined : this.#planned.get(name)
    if (fault !== undefined) this.#options.onFault(fault)
    return fault
  }

  #fatesOf(service: ServiceName, process: Process): Fates {
    let downMs = 0
    return {
      ofCall: () => {
        const fault = this.#take(`call ${service} ${this.#next(this.#calls, service)}`)
        if (fault?._tag === "Kill") downMs = fault.downMs
        return fault?._tag === "Kill" ||
          fault?._tag === "RequestLost" ||
          fault?._tag === "AnswerLost" ||
          fault?._tag === "Slow"
          ? fault
          : undefined
      },
      ofDelivery: () => {
        const fault = this.#take(`delivery ${service} ${this.#next(this.#deliveries, service)}`)
        return fault?._tag === "Twice" || fault?._tag === "AckLost" || fault?._tag === "Late" ? fault : undefined
      },
      kill: () => this.kill(service, downMs, process)
    }
  }
}
