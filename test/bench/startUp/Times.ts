/** What was measured, by name, in all rounds: milliseconds of the clock, and of processors where they were counted. */
import { figuresOf } from "../figures.ts"

interface Measured {
  readonly clock: ReadonlyArray<number>
  readonly processors: ReadonlyArray<number>
}

export interface Floor {
  readonly name: string
  readonly ms: number
}

export class Times {
  readonly #all = new Map<string, Measured>()

  note(name: string, clockMs: number, processorMs?: number): void {
    const { clock, processors } = this.#all.get(name) ?? { clock: [], processors: [] }
    const more = processorMs === undefined ? [] : [processorMs]
    this.#all.set(name, { clock: [...clock, clockMs], processors: [...processors, ...more] })
  }

  /** The median. */
  of(name: string): number {
    return figuresOf(this.#all.get(name)?.clock ?? []).p50
  }

  /** `status: 610 ms, 3.9 × the start of node, 580 ms of processors` */
  line(name: string, floor?: Floor): string {
    const ms = this.of(name)
    const ratio = floor === undefined ? "" : `, ${(ms / floor.ms).toFixed(2)} × ${floor.name}`
    const processors = this.#all.get(name)?.processors ?? []
    const used = processors.length === 0 ? "" : `, ${figuresOf(processors).p50.toFixed(0)} ms of processors`
    return `${name}: ${ms.toFixed(0)} ms${ratio}${used}`
  }
}
