import type { StreamKind } from "./Broker.ts"

const kinds: Readonly<Record<string, StreamKind>> = {
  command: "commands",
  work: "work",
  event: "events",
  journal: "journal",
  timer: "timers",
  dead: "dead"
}

/** The stream that keeps a subject: its second token says so. Undefined: none does. */
export const streamOf = (subject: string): StreamKind | undefined => {
  const from = subject.indexOf(".") + 1
  return kinds[subject.slice(from, subject.indexOf(".", from))]
}
