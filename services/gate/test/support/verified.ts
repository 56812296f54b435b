/** Runs the example of docs/notifications.md#signature as a receiver would. */
import { readFileSync } from "node:fs"
import { Effect } from "effect"

const page = readFileSync(new URL("../../../../docs/notifications.md", import.meta.url), "utf8")
const example = /```js\n(\/\/ verify[\s\S]*?)\n```/.exec(page)?.[1] ?? ""

interface Example {
  readonly isGenuine: (secret: string, header: string, body: string, nowMs?: number) => boolean
}

const loaded = Effect.promise((): Promise<Example> => import(`data:text/javascript,${encodeURIComponent(example)}`))

/** Whether the example takes this body for ours. */
export const verified = (secret: string, header: string, body: string, nowMs?: number) =>
  Effect.map(loaded, ({ isGenuine }) => isGenuine(secret, header, body, nowMs))
