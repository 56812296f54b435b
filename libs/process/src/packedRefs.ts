/**
 * What git's file `packed-refs` says of itself, which git believes: that its refs are in order, so that git looks for one by halves
 * and for all in a row; and, behind a tag, what the tag stands for. A command has to write the file, and git itself writes neither
 * otherwise. Pure.
 */
import type { Bytes } from "./pathBytes.ts"

interface PackedRef {
  readonly ref: Bytes
  readonly hash: string
  /** What the file says that it stands for, if it is a tag, or else itself; undefined: the file does not say. */
  readonly peeled?: string
}

export interface PackedRefs {
  readonly refs: ReadonlyArray<PackedRef>
  /** The first line that git would not write where it stands. */
  readonly odd?: Bytes
}

const hash = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

const refOf = (line: Bytes): PackedRef | undefined => {
  const [, named = "", ref] = /^([0-9a-f]+) ([^\s].*)$/.exec(line) ?? []
  return ref !== undefined && hash.test(named) ? { ref, hash: named } : undefined
}

const knowsOf = (traits: ReadonlyArray<string>, ref: Bytes): boolean =>
  traits.includes("fully-peeled") || (traits.includes("peeled") && ref.startsWith("refs/tags/"))

/** Reads the lines until one is odd. */
export const readPackedRefs = (text: Bytes): PackedRefs => {
  const refs: Array<PackedRef> = []
  const seen = new Set<Bytes>()
  const [header, said] = /^# pack-refs with:(.*)/.exec(text) ?? []
  const traits = said?.split(" ") ?? []
  let at = header === undefined ? 0 : header.length + 1
  let mayBePeeled = false
  while (at < text.length) {
    const end = text.indexOf("\n", at)
    const line = text.slice(at, end === -1 ? text.length : end)
    at += line.length + 1
    const last = refs.at(-1)
    if (line.startsWith("^")) {
      const peeled = line.slice(1)
      if (last === undefined || !mayBePeeled || !hash.test(peeled)) return { refs, odd: line }
      refs[refs.length - 1] = { ...last, peeled }
      mayBePeeled = false
      continue
    }
    const found = refOf(line)
    const isLater = last === undefined || found === undefined || last.ref < found.ref || !traits.includes("sorted")
    if (found === undefined || seen.has(found.ref) || !isLater) return { refs, odd: line }
    seen.add(found.ref)
    refs.push(knowsOf(traits, found.ref) ? { ...found, peeled: found.hash } : found)
    mayBePeeled = true
  }
  return { refs }
}
