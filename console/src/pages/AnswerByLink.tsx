/** The page that a link in a message opens: what it answers, one button, and what became of it. To look answers nothing. */
import type { ConsoleLink } from "@reprise/protocol"
import { QueryClientProvider, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useMemo, useState } from "react"
import { newCommandId } from "../data/api.ts"
import { ago, closingText, originText, partsOf, placeText } from "../data/format.ts"
import { linkQuery, makeQueryClient, sendCommand } from "../data/queries.ts"
import { AgentText } from "../parts/AgentText.tsx"
import { useNow } from "../parts/clock.ts"
import { Failed, Loading, Tag } from "../parts/Notice.tsx"
import { usePlainTitle } from "../parts/title.ts"
import { visible } from "../parts/visible.ts"

/** Why the link answers nothing any more; undefined: it still can. */
const endOf = ({ question, state }: ConsoleLink, now: number): string | undefined => {
  if (state === "open") return undefined
  if (state === "expired") return "This link has expired. A newer message about the question has a new one."
  const closing = closingText(question, now) ?? ""
  return state === "used" ? `This link was used. ${closing}` : closing
}

function Given({ isStored, name }: { readonly isStored: boolean; readonly name: string }) {
  return (
    <p className="border-good bg-card text-strong rounded-md border px-3 py-2 font-medium" role="status">
      {isStored ? `“${name}” is stored. The gate will handle it when it runs.` : `Answered: “${name}”.`}
    </p>
  )
}

function Answer({ link, shown }: { readonly link: string; readonly shown: ConsoleLink }) {
  const now = useNow()
  const client = useQueryClient()
  // The same at every attempt: however often it is sent, the answer is given once.
  const [commandId] = useState(newCommandId)
  const { commit, expiresAt, label } = shown
  const { meaning, name } = partsOf(visible(label))
  const { data, error, isPending, mutate } = useMutation({
    mutationFn: () => sendCommand("link/answer", { link, commandId, ...(commit === undefined ? {} : { commit }) }),
    onError: () => client.invalidateQueries()
  })
  const end = endOf(shown, now)
  if (data !== undefined) return <Given isStored={data.state === "pending"} name={name} />
  if (end !== undefined) {
    return (
      <p className="border-warn bg-warn-tint text-strong rounded-md border px-3 py-2 font-medium" role="status">
        {visible(end)}
      </p>
    )
  }
  return (
    <div className="space-y-3">
      <p>
        Your answer will be <strong className="text-strong">{name}</strong>
        {meaning !== undefined && ` (${meaning})`}. Pressing the button sends it, which cannot be undone.
      </p>
      {error !== null && <Failed error={error} what="Not answered" />}
      <button
        className="bg-accent text-on-accent min-h-12 w-full rounded-md px-4 font-medium disabled:opacity-60"
        disabled={isPending}
        onClick={() => mutate()}
        type="button"
      >
        Answer “{name}”
      </button>
      <p className="text-soft text-sm">
        The link works once, until <time dateTime={expiresAt}>{new Date(expiresAt).toLocaleString()}</time>.
      </p>
    </div>
  )
}

function Page({ link }: { readonly link: string }) {
  const now = useNow()
  const { data, error } = useQuery(linkQuery(link))
  if (error !== null && data === undefined) return <Failed error={error} what="Nothing was answered" />
  if (data === undefined) return <Loading what="the question" />
  const { origin, escalationId, raisedAt, reason } = data.question
  return (
    <article className="card space-y-4 px-4 py-4">
      <header className="space-y-1">
        <p className="text-soft flex flex-wrap items-center gap-x-2 text-sm">
          <Tag tone={data.state === "open" ? "warn" : "soft"}>{originText(origin)}</Tag>
          <span className="min-w-0 break-words">{visible(placeText(data.question))}</span>
          <time dateTime={raisedAt}>{ago(raisedAt, now)}</time>
        </p>
        <div className="text-strong text-lg">
          <AgentText text={reason} />
        </div>
      </header>
      <Answer link={link} shown={data} />
      <p>
        <a className="text-accent underline" href={`/questions/${escalationId}`} rel="noreferrer">
          Open the question
        </a>{" "}
        <span className="text-soft">for its evidence, another answer or guidance. You must be signed in.</span>
      </p>
    </article>
  )
}

export function AnswerByLink({ link }: { readonly link: string }) {
  const client = useMemo(makeQueryClient, [])
  usePlainTitle("Answer a question")
  return (
    <QueryClientProvider client={client}>
      <main className="mx-auto flex min-h-dvh max-w-xl flex-col justify-center gap-4 px-4 py-6">
        <h1 className="text-xl">Answer a question</h1>
        <Page link={link} />
      </main>
    </QueryClientProvider>
  )
}
