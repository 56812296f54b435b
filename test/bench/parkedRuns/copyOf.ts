/** A parked run once more, under other ids: what is stored for it as it would be stored for the copy. Pure. */
import { RunId } from "@reprise/protocol"

/** Long enough for nothing of it to be sent again: an actor does that with what it decided in the last five minutes. */
const agedMs = 6 * 60_000
/** How far apart the timers of the copies are: questions that were asked one after the other are reminded of so. */
const apartMs = 360
const dueHeader = "reprise-due"

/** One message of a run, in whichever stream. */
export interface StoredText {
  readonly subject: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string
}

/** The run that is copied. */
export interface Original {
  readonly runId: RunId
  /** Where its journal entries are in the journal's stream, in order. */
  readonly sequences: ReadonlyArray<number>
}

/** The n-th copy. */
export interface Copy {
  readonly n: number
  /** The place of its first journal entry; the others follow. */
  readonly firstSequence: number
}

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
/** The ids of prompts and their parts. */
const promptIds = /\b(?:msg|prt)_[0-9A-Za-z]{26}\b/g
/** The ids of what actors send: actor, key, sequence in the journal. */
const sentIds = /\b((?:run|workspace|session|review|escalation)\.[A-Za-z0-9_-]+)\.(\d+)\b/g
const viewSequence = /^\{"sequence":(\d+)/

const hex = (n: number, digits: number) => n.toString(16).padStart(digits, "0")

export const runIdOfCopy = ({ runId }: Original, n: number): RunId =>
  RunId.make(`${runId.slice(0, runId.indexOf("-"))}-c${hex(n, 7)}`)

export const branchOfCopy = (n: number) => `reprise/copy-${n}`

/** A function that gives a text of the original as the copy has it. */
const textOfCopy = (original: Original, { firstSequence, n }: Copy) => {
  const places = new Map(original.sequences.map((sequence, index) => [String(sequence), firstSequence + index]))
  const placed = (sequence: string) => String(places.get(sequence) ?? sequence)
  return (text: string): string =>
    text
      .replaceAll(uuids, (id) => `${id.slice(0, 24)}${hex(n, 12)}`)
      .replaceAll(original.runId, runIdOfCopy(original, n))
      .replaceAll(promptIds, (id) => `${id.slice(0, -6)}${n.toString(36).padStart(6, "0")}`)
      .replaceAll(sentIds, (_, sender: string, sequence: string) => `${sender}.${placed(sequence)}`)
      .replace(viewSequence, (_, sequence: string) => `{"sequence":${placed(sequence)}`)
      .replaceAll(/\bses_memory_\d+\b/g, `ses_memory_copy${n}`)
      .replaceAll(/\breprise\/plan-\d+\b/g, branchOfCopy(n))
      .replaceAll(times, (time) => new Date(Date.parse(time) - agedMs).toISOString())
}

/** A function that gives a message of the original as the copy has it. */
export const copyOf = (original: Original, copy: Copy) => {
  const changed = textOfCopy(original, copy)
  const header = (name: string, value: string): readonly [string, string] =>
    name === dueHeader ? [name, new Date(Date.parse(value) + copy.n * apartMs).toISOString()] : [name, changed(value)]
  return ({ body, headers, subject }: StoredText): StoredText => ({
    subject: changed(subject),
    headers: headers.map(([name, value]) => header(name, value)),
    body: changed(body)
  })
}
