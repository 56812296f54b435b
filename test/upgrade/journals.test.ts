/**
 * What earlier versions stored can be loaded. Each file of `journals/` holds what the commit that it is named after stored
 * of `reprise demo` (`recordJournals.ts`).
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Actor, replayJournal } from "@reprise/actor"
import { escalationActor } from "@reprise/gate"
import { runActor } from "@reprise/orchestrator"
import { contracts, keyOfSubject, type ServiceName, subjects } from "@reprise/protocol"
import { reviewActor } from "@reprise/reviewer"
import { sessionActor } from "@reprise/session-manager"
import { workspaceActor } from "@reprise/workspace"
import { Schema } from "effect"

const Entry = Schema.Struct({ subject: Schema.String, sequence: Schema.Int, body: Schema.String })
const StoredView = Schema.fromJsonString(Schema.Struct({ sequence: Schema.Int, view: Schema.Unknown }))
const View = Schema.Struct({ view: Schema.String, value: StoredView })
const readLine = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Union([Entry, View])))

const folder = join(import.meta.dirname, "journals")

const stored = (file: string) => {
  const lines = readFileSync(join(folder, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => readLine(line))
  return {
    journals: Map.groupBy(
      lines.filter((line) => "subject" in line),
      ({ subject }) => subject
    ),
    views: new Map(lines.filter((line) => "view" in line).map(({ value, view }) => [view, value]))
  }
}

/** Replays all journals of one kind of actor; gives the number of entries, and each difference in words. */
const replayAll = <State, Input extends { readonly _tag: string }, Event extends { readonly _tag: string }>(
  actor: Actor<State, Input, Event, { readonly _tag: string }>,
  { journals, views }: ReturnType<typeof stored>
) => {
  const { service } = actor
  const own = [...journals].filter(([subject]) => subject.startsWith(`reprise.journal.${contracts[service].actor}.`))
  const replayed = own.map(([subject, entries]) => {
    const key = keyOfSubject(subject)
    if (key === undefined) throw new Error(`${subject} names no actor`)
    const sender = { service, key, source: `/${service}/local`, subjects: subjects("reprise") }
    return replayJournal(actor, sender, entries, views.get(`${service}.${key}`))
  })
  return replayed.map(({ difference, entries }) => ({ entries, kind: difference?.kind, detail: difference?.detail }))
}

const replays: Readonly<Record<ServiceName, (of: ReturnType<typeof stored>) => ReturnType<typeof replayAll>>> = {
  orchestrator: (of) => replayAll(runActor, of),
  "session-manager": (of) => replayAll(sessionActor(), of),
  reviewer: (of) => replayAll(reviewActor, of),
  gate: (of) => replayAll(escalationActor, of),
  workspace: (of) => replayAll(workspaceActor, of)
}

describe.each(readdirSync(folder))("the journals of %s", (file) => {
  const of = stored(file)

  it.each(Object.entries(replays))("of the %s can be read, and show what they showed then", (_service, replay) => {
    const replayed = replay(of)
    assert.isNotEmpty(replayed)
    for (const { detail, entries, kind } of replayed) {
      assert.isAbove(entries, 0)
      assert.notInclude(["unreadable", "shown"], kind, detail)
    }
  })
})
