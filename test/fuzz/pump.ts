/** Texts that repeat themselves: what makes a reader slow is nearly always one of them. */
import { Schema } from "effect"

/** `prefix`, then `unit` again and again, then `suffix`. `{#}` in the unit counts, for names that must differ. */
export const Pump = Schema.Struct({ prefix: Schema.String, unit: Schema.String, suffix: Schema.String })
export type Pump = typeof Pump.Type

const counter = "{#}"

const repeated = (unit: string, times: number): string =>
  unit.includes(counter)
    ? Array.from({ length: times }, (_, n) => unit.replaceAll(counter, `${n}`)).join("")
    : unit.repeat(times)

/** The text of about this many characters. */
export const textOf = ({ prefix, suffix, unit }: Pump, length: number): string =>
  prefix + repeated(unit, Math.max(1, Math.ceil(length / unit.length))) + suffix

/** A generator of numbers below `n`, the same ones for the same seed. */
const makeDice = (seed: number) => {
  let state = seed >>> 0
  return (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

/** The pump with this number: its parts are made of a language's own pieces. */
export const pumpOf = (pieces: ReadonlyArray<string>, seed: number, number: number): Pump => {
  const dice = makeDice(Math.imul(seed, 7919) + Math.imul(number, 104_729))
  const piece = () => pieces[dice(pieces.length)] ?? ""
  const some = (most: number) => Array.from({ length: dice(most + 1) }, piece).join("")
  return { prefix: some(2), unit: piece() + some(2), suffix: some(2) }
}
