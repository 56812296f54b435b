/** What an answer rests on, from the machine that runs the agents: changes, logs of quality gates, the conversation. */
import { Tabs } from "@base-ui/react/tabs"
import { type EscalationView, gateAction } from "@reprise/protocol"
import { useQuery } from "@tanstack/react-query"
import { Suspense, useRef, useState } from "react"
import { count } from "../data/format.ts"
import { changesQuery, logsQuery } from "../data/queries.ts"
import { focusHeading } from "../parts/Heading.tsx"
import { Key } from "../parts/Key.tsx"
import { useKeys } from "../parts/keys.ts"
import { loadedLater } from "../parts/loadedLater.ts"
import { More } from "../parts/More.tsx"
import { Failed, Loading } from "../parts/Notice.tsx"
import { Select } from "../parts/Select.tsx"
import { visible, visibleLine } from "../parts/visible.ts"
import { Conversation } from "./Conversation.tsx"
import { type NamedSession, sessionsOf } from "./sessionsOf.ts"

const Patch = loadedLater(() => import("../parts/Patch.tsx"))
const LongText = loadedLater(() => import("../parts/LongText.tsx"))

/** What the commit changes, as it came with the question: the files may be elsewhere. */
function DiffStat({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null
  return (
    <section aria-label="Changed files of the commit" className="mt-3">
      <pre className="font-mono text-[13px] leading-5 whitespace-pre-wrap">{visible(text)}</pre>
    </section>
  )
}

function Changes({ diffStat, id }: { readonly id: string; readonly diffStat: string | undefined }) {
  const { data, error } = useQuery(changesQuery(id))
  if (error !== null) {
    return (
      <>
        <Failed error={error} what="The changes cannot be shown" />
        <DiffStat text={diffStat} />
      </>
    )
  }
  if (data === undefined) return <Loading what="the changes" />
  const { commits, files, more, patch, untracked } = data
  if (commits.length === 0 && untracked.length === 0 && files.length === 0) {
    return <p className="text-soft">Nothing changed so far.</p>
  }
  return (
    <div className="space-y-4">
      {commits.length > 0 && (
        <div>
          <h4 className="text-strong text-sm font-semibold">{count(commits.length + more.commits, "commit")}</h4>
          <ul className="font-mono text-[13px]">
            {commits.map((line) => (
              <li key={line}>{visible(line)}</li>
            ))}
          </ul>
          <More of={more.commits} what="commit" />
        </div>
      )}
      {untracked.length > 0 && (
        <div>
          <h4 className="text-strong text-sm font-semibold">Not added to git</h4>
          <ul className="font-mono text-[13px]">
            {untracked.map((path) => (
              <li key={path}>{visibleLine(path)}</li>
            ))}
          </ul>
          <More of={more.untracked} what="file" />
        </div>
      )}
      {files.length > 0 && <Patch files={files} more={more} />}
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
          <h4 className="text-strong font-mono text-[13px] font-semibold">{visible(name)}</h4>
          {omitted > 0 && <p className="text-warn text-sm">{omitted} characters before this are left out.</p>}
          <LongText atEnd label={`Log ${name}`} text={text} />
        </div>
      ))}
    </div>
  )
}

function Transcripts({ sessions }: { readonly sessions: ReadonlyArray<NamedSession> }) {
  const [wanted, setWanted] = useState(sessions[0]?.id ?? "")
  const shown = sessions.find(({ id }) => id === wanted) ?? sessions[0]
  if (shown === undefined) return null
  return (
    <div className="space-y-2">
      {sessions.length > 1 && (
        <Select
          label="Whose transcript"
          onChange={setWanted}
          options={sessions.map(({ id, title }) => [id, `${title}, ${id}`] as const)}
          value={shown.id}
        />
      )}
      <Conversation key={shown.id} sessionId={shown.id} />
    </div>
  )
}

const tab =
  "text-soft data-[active]:text-strong data-[active]:border-accent min-h-11 border-b-2 border-transparent px-3 font-medium"

export function Evidence({ question }: { readonly question: EscalationView }) {
  const { escalationId, evidence } = question
  const sessions = sessionsOf(question)
  const failed = (evidence.gateResults ?? []).length > 0
  const [shown, setShown] = useState<string>(failed ? "log" : "diff")
  const box = useRef<HTMLDivElement>(null)
  useKeys((key) => {
    const action = gateAction(key)
    switch (action) {
      case "question":
        scrollTo({ top: 0 })
        focusHeading()
        return true
      case "transcript":
        if (sessions.length === 0) return false
        break
      case "diff":
      case "log":
        break
      default:
        return false
    }
    setShown(action)
    box.current?.scrollIntoView({ block: "start" })
    return true
  })
  return (
    <Tabs.Root className="scroll-mt-16" onValueChange={setShown} ref={box} value={shown}>
      <h3 className="sr-only">Evidence</h3>
      <Tabs.List aria-label="Evidence" className="border-line -mx-1 flex overflow-x-auto border-b">
        <Tabs.Tab className={tab} value="diff">
          Changes <Key>d</Key>
        </Tabs.Tab>
        <Tabs.Tab className={tab} value="log">
          Gate log <Key>l</Key>
        </Tabs.Tab>
        {sessions.length > 0 && (
          <Tabs.Tab className={tab} value="transcript">
            Transcript <Key>t</Key>
          </Tabs.Tab>
        )}
      </Tabs.List>
      <Suspense fallback={<Loading what="the page" />}>
        <Tabs.Panel className="pt-3" value="diff">
          <Changes diffStat={evidence.diffStat} id={escalationId} />
        </Tabs.Panel>
        <Tabs.Panel className="pt-3" value="log">
          <Logs id={escalationId} />
        </Tabs.Panel>
        {sessions.length > 0 && (
          <Tabs.Panel className="pt-3" value="transcript">
            <Transcripts sessions={sessions} />
          </Tabs.Panel>
        )}
      </Suspense>
    </Tabs.Root>
  )
}
