/** One session: what it is, how to step into it, and what was said. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { ago, count, dollars, tokensText } from "../data/format.ts"
import { sessionQuery } from "../data/queries.ts"
import { useNow } from "../parts/clock.ts"
import { Heading } from "../parts/Heading.tsx"
import { Failed, Loading, Tag } from "../parts/Notice.tsx"
import { useTitle } from "../parts/title.ts"
import { visible } from "../parts/visible.ts"
import { Conversation } from "./Conversation.tsx"

export function Session({ id }: { readonly id: string }) {
  const { data, error } = useQuery(sessionQuery(id))
  const now = useNow()
  useTitle(`Session ${id}`)
  if (error !== null && data === undefined) return <Failed error={error} what="The session cannot be shown" />
  if (data === undefined) return <Loading what="the session" />
  const { cost, lastActivityAt, model, phase, prompt, role, runId, runtime, status, tokens, turns } = data
  return (
    <div className="mx-auto max-w-5xl space-y-4">
      <header className="space-y-1">
        <div className="flex flex-wrap items-center gap-x-3">
          <Heading className="text-xl">{id}</Heading>
          <Tag>{status}</Tag>
        </div>
        <p className="text-soft text-sm">
          {prompt === undefined ? role : "standalone"}
          {phase !== undefined && ` of phase ${phase}`} · {visible(model ?? runtime)} · {count(turns, "turn")} ·{" "}
          {tokensText(tokens)}
          {cost > 0 && `, ${dollars(cost)}`} · last activity {ago(lastActivityAt, now)}
        </p>
        {prompt === undefined && (
          <p className="text-sm">
            <Link className="text-accent underline" params={{ id: runId }} to="/runs/$id">
              Its run
            </Link>
          </p>
        )}
        <p className="text-sm">
          Step in from a terminal: <code className="bg-well rounded px-1">reprise attach {id}</code>
        </p>
      </header>
      <h2 className="text-base">Conversation</h2>
      <Conversation sessionId={id} />
    </div>
  )
}
