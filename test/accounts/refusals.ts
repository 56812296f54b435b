/** Tries what an identity may or may not do, all at once, and tells what the server refused. */
import type { NatsShape } from "@reprise/nats"
import { Effect } from "effect"
import type { Attempt } from "./attempts.ts"

/** Refused for everybody; when it is, everything before it has been looked at. */
const last = "$SYS.nothing.follows"

const idOf = ({ does, subject }: Pick<Attempt, "does" | "subject">) => `${does} ${subject}`

/** The attempts that the server refused. */
export const refusalsOf = (nc: NatsShape["nc"], attempts: ReadonlyArray<Attempt>) =>
  Effect.promise(async () => {
    const statuses = nc.status()
    const subscriptions = attempts.flatMap(({ does, subject }) => {
      if (does === "subscribe") return [nc.subscribe(subject, { callback: () => undefined })]
      nc.publish(subject, "{}")
      return []
    })
    nc.publish(last, "")
    const refused = new Set<string>()
    for await (const status of statuses) {
      if (status.type !== "error") continue
      const [, operation, subject = ""] = /(Publish|Subscription) to "(\S+)"/.exec(status.error.message) ?? []
      if (subject === last) break
      refused.add(idOf({ does: operation === "Publish" ? "publish" : "subscribe", subject }))
    }
    for (const subscription of subscriptions) subscription.unsubscribe()
    return attempts.filter((attempt) => refused.has(idOf(attempt)))
  })
