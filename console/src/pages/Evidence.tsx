/** What an answer rests on, from the machine that runs the agents: changes, logs of quality gates, the conversation. */
import { Tabs } from "@base-ui/react/tabs"
import type { EscalationView } from "@reprise/protocol"
import { useQuery } from "@tanstack/react-query"
import { lazy, Suspense, useState } from "react"
import { changesQuery, logsQuery } from "../data/queries.ts"
import { count } from "../data/words.ts"
import { Key } from "../parts/Key.tsx"
import { useKeys } from "../parts/keys.ts"
import { Failed, Loading } from "../parts/Notice.tsx"
import { visible } from "../parts/visible.ts"
import { Conversation } from "./Conversation.tsx"

const Patch = lazy(() => import("../parts/Patch.tsx"))
const LongText = lazy(() => import("../parts/LongText.tsx"))

function Changes({ id }: { readonly id: string }) {
  const { data, error } = useQuery(changesQuery(id))
  if (error !== null) return <Failed error={error} what="The changes cannot be shown" />
  if (data === undefined) return <Loading what="the changes" />
  const { commits, patch, untracked } = data
  if (commits.length === 0 && untracked.length === 0 && patch.text === "") {
    return <p className="text-soft">Nothing changed so far.</p>
  }
  return (
    <div className="space-y-4">
      {commits.length > 0 && (
        <div>
          <h3 className="text-sm">{count(commits.length, "commit")}</h3>
          <ul className="font-mono text-[13px]">
            {commits.map((line) => (
              <li key={line}>{visible(line)}</li>
            ))}
          </ul>
        </div>
      )}
      {untracked.length > 0 && (
        <div>
          <h3 className="text-sm">Not added to git</h3>
          <ul className="font-mono text-[13px]">
            {untracked.map((line) => (
              <li key={line}>{visible(line)}</li>
            ))}
          </ul>
        </div>
      )}
      {patch.text !== "" && <Patch text={patch.text} />}
      {patch.omitted > 0 && <p className="text-warn">{patch.omitted} more characters of the changes are left out.</p>}
    </div>
  )
}

function Logs({ id }: { readonly id: string }) {
  const { data, error } = useQuery(logsQuery(id))
  if (error !== null) return <Failed error={error} what="The logs cannot be shown" />
  if (data === undefined) return <Loading what="the logs" />
  if (data.length === 0) return <p className="text-soft">No quality gate ran before this question.</p>
  return (
    <div className="space-y-4">
      {data.map(({ name, omitted, text }) => (
        <div key={name}>
          <h3 className="font-mono text-[13px]">{visible(name)}</h3>
          {omitted > 0 && <p className="text-warn text-sm">{omitted} characters before this are left out.</p>}
          <LongText atEnd label={`Log ${name}`} text={text} />
        </div>
      ))}
    </div>
  )
}

const tab =
  "text-soft data-[active]:text-strong data-[active]:border-accent min-h-11 border-b-2 border-transparent px-3 font-medium"

export function Evidence({ question }: { readonly question: EscalationView }) {
  const { escalationId, evidence, sessionId } = question
  const session = sessionId ?? evidence.sessionId ?? evidence.authorSessionId
  const failed = (evidence.gateResults ?? []).length > 0
  const [shown, setShown] = useState<string>(failed ? "log" : "diff")
  useKeys((key) => {
    const name = { d: "diff", l: "log", t: "transcript" }[key]
    if (name === undefined || (name === "transcript" && session === undefined)) return false
    setShown(name)
    return true
  })
  return (
    <Tabs.Root onValueChange={setShown} value={shown}>
      <Tabs.List aria-label="Evidence" className="border-line -mx-1 flex overflow-x-auto border-b">
        <Tabs.Tab className={tab} value="diff">
          Changes <Key>d</Key>
        </Tabs.Tab>
        <Tabs.Tab className={tab} value="log">
          Gate log <Key>l</Key>
        </Tabs.Tab>
        {session !== undefined && (
          <Tabs.Tab className={tab} value="transcript">
            Transcript <Key>t</Key>
          </Tabs.Tab>
        )}
      </Tabs.List>
      <Suspense fallback={<Loading what="the page" />}>
        <Tabs.Panel className="pt-3" value="diff">
          <Changes id={escalationId} />
        </Tabs.Panel>
        <Tabs.Panel className="pt-3" value="log">
          <Logs id={escalationId} />
        </Tabs.Panel>
        {session !== undefined && (
          <Tabs.Panel className="pt-3" value="transcript">
            <Conversation sessionId={session} />
          </Tabs.Panel>
        )}
      </Suspense>
    </Tabs.Root>
  )
}
