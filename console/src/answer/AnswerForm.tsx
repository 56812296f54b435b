/** The choices of a question, with guidance and a preview of what the agent will be told. */
import {
  type EscalationOption,
  type EscalationView,
  forkKey,
  gateAction,
  isFinalChoice,
  keyedChoices,
  recommended,
  saidOfFinal,
  undoKey,
  whyNoChoice
} from "@reprise/protocol"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useDeferredValue, useEffect, useRef, useState } from "react"
import { partsOf } from "../data/format.ts"
import { askPreview } from "../data/queries.ts"
import { announce } from "../parts/announce.tsx"
import { Key } from "../parts/Key.tsx"
import { useKeys } from "../parts/keys.ts"
import { useSession } from "../parts/session.tsx"
import { visible } from "../parts/visible.ts"
import { AgentFields } from "./AgentFields.tsx"
import { Confirmation } from "./Confirmation.tsx"
import { type Forking, useFork } from "./fork.ts"
import { choose, draftOf, nobodyElse, saveDraft } from "./pending.ts"

function Preview({ guidance, question }: { readonly question: EscalationView; readonly guidance: string }) {
  const said = useDeferredValue(guidance)
  const { data } = useQuery({
    queryKey: ["preview", question.escalationId, said],
    queryFn: () => askPreview(`questions/${question.escalationId}/preview`, { guidance: said }),
    placeholderData: (earlier) => earlier,
    gcTime: 10_000
  })
  if (data === undefined || data.text === "") return null
  return (
    <details className="text-sm" open={guidance.trim() !== ""}>
      <summary className="text-soft">The agent will be told exactly this</summary>
      <section
        aria-label="What the agent will be told"
        className="border-line bg-well mt-1 max-h-20 sm:max-h-40 overflow-y-auto rounded-md border px-3 py-2"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach that
        tabIndex={0}
      >
        <pre className="font-sans whitespace-pre-wrap break-words">{visible(data.text)}</pre>
      </section>
    </details>
  )
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A telephone has room for what is advised, and not for what each choice means. */
const shownMeaning = (meaning: string): string => (/\brecommended\b/.test(meaning) ? "block" : "hidden sm:block")

/** The fork that was made, or why there is none. The question stays open. */
function Forked({ forking }: { readonly forking: Forking }) {
  if (forking.failed !== undefined) {
    return (
      <p className="text-bad text-sm" role="alert">
        {visible(forking.failed)}
      </p>
    )
  }
  const { made } = forking
  if (made === undefined) return null
  return (
    <p className="text-good text-sm" role="status">
      <Link className="underline" params={{ id: made.sessionId }} to="/sessions/$id">
        Session {made.sessionId}
      </Link>{" "}
      tries again after turn {made.turn}, in a worktree, on the branch <code>{made.branch}</code>. The question stays
      open.
    </p>
  )
}

interface Props {
  readonly question: EscalationView
  readonly onChosen: () => void
}

/** What is asked before it is done. */
type Asked = { readonly _tag: "Final"; readonly option: EscalationOption } | { readonly _tag: "Fork" }

export function AnswerForm({ onChosen, question }: Props) {
  const { escalationId, evidence, options } = question
  const choices = keyedChoices(question)
  const best = recommended(question)
  const [guidance, setGuidance] = useState(() => draftOf(escalationId).guidance)
  const [agent, setAgent] = useState(() => draftOf(escalationId).agent)
  const [missing, setMissing] = useState<string>()
  const [notice, setNotice] = useState<string>()
  const [asked, setAsked] = useState<Asked>()
  const forking = useFork(escalationId)
  const { hasRepository } = useSession()
  const box = useRef<HTMLTextAreaElement>(null)
  const needsWords = options.every((one) => one.guidance === "required")
  const takesGuidance = options.some((one) => one.guidance !== "none")

  useEffect(() => saveDraft(escalationId, { guidance, agent }), [escalationId, guidance, agent])

  const send = (option: EscalationOption) => {
    choose(question, option.name, partsOf(option.label).name, {
      guidance,
      agent:
        option.agent === true
          ? { runtime: agent.runtime.trim(), model: agent.model.trim(), variant: agent.variant.trim() }
          : nobodyElse
    })
    onChosen()
  }

  /** One key or tap must not end the work, or let it pass. */
  const answer = (option: EscalationOption) => {
    if (option.guidance === "required" && guidance.trim() === "") {
      setMissing(partsOf(visible(option.label)).name)
      box.current?.focus()
      return
    }
    if (isFinalChoice(question, option.name)) setAsked({ _tag: "Final", option })
    else send(option)
  }

  const fork = () => {
    setAsked(undefined)
    void forking.make(guidance).then((isMade) => {
      if (isMade) setGuidance("")
    })
  }

  const say = (isMeant: boolean) => {
    if (asked === undefined) return
    if (!isMeant) {
      setAsked(undefined)
      tell(asked._tag === "Fork" ? "Nothing was started." : "Not answered; the question stays open.")
    } else if (asked._tag === "Fork") fork()
    else send(asked.option)
  }

  const tell = (text: string) => {
    setNotice(text)
    announce(text)
  }

  const askedKey = (key: string): boolean => {
    const said = saidOfFinal(key)
    if (said !== undefined) say(said === "yes")
    return said !== undefined || key === "Enter" || /^[a-z0-9]$/.test(key)
  }

  useKeys((key) => {
    if (asked !== undefined) return askedKey(key)
    const option = choices.find((one) => one.key === key)?.option ?? (key === "Enter" ? best : undefined)
    setNotice(undefined)
    if (option !== undefined) answer(option)
    else if (key === "Enter") tell("No choice is recommended here: press the key of the one you want.")
    else if (key === forkKey && hasRepository) setAsked({ _tag: "Fork" })
    else if (gateAction(key) === "write") box.current?.focus()
    else if (/^[a-z0-9]$/.test(key) && gateAction(key) === undefined && key !== undoKey) {
      tell(visible(whyNoChoice(question, key)))
    } else return false
    return true
  })

  return (
    <form
      aria-label="Your answer"
      className="border-line bg-card sticky bottom-0 z-10 -mx-4 max-h-[50dvh] space-y-2 overflow-y-auto border-t px-4 pt-3 lg:-mx-6 lg:rounded-b-lg lg:px-6"
      data-answer=""
      onSubmit={(event) => event.preventDefault()}
    >
      <div>
        <label className="text-soft flex items-baseline justify-between text-sm" htmlFor="guidance">
          <span>
            {takesGuidance ? "Guidance for the agent" : "Reason"} {!needsWords && "(optional)"}
          </span>
          <Key>e</Key>
        </label>
        <textarea
          aria-describedby={missing === undefined ? undefined : "guidance-missing"}
          aria-invalid={missing !== undefined}
          aria-keyshortcuts="e"
          className="border-line bg-page text-strong mt-1 field-sizing-content block max-h-[30vh] min-h-11 w-full resize-y rounded-md border px-3 py-2 text-base"
          id="guidance"
          onChange={({ target }) => {
            setGuidance(target.value)
            setMissing(undefined)
          }}
          onKeyDown={(event) => {
            if (event.key === "Escape") event.currentTarget.blur()
          }}
          placeholder="What should the agent do?"
          ref={box}
          rows={1}
          value={guidance}
        />
        {missing !== undefined && (
          <p className="text-bad text-sm" id="guidance-missing" role="alert">
            “{missing}” needs your words: write them here, then choose it again.
          </p>
        )}
      </div>
      <Preview guidance={guidance} question={question} />
      {options
        .filter((one) => one.agent === true)
        .map(({ label, name }) => (
          <AgentFields choice={partsOf(visible(label)).name} key={name} onChange={setAgent} value={agent} />
        ))}
      {/* However much is written above, the choices are in sight. */}
      <div className="bg-card sticky bottom-0 space-y-2 pt-1 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
        {asked?._tag === "Final" && (
          <Confirmation
            isFinal
            onNo={() => say(false)}
            onYes={() => say(true)}
            question={`${capital(visible(asked.option.label))}: are you sure?`}
            yes="Yes"
          >
            It can be taken back for five seconds.
          </Confirmation>
        )}
        {asked?._tag === "Fork" && (
          <Confirmation onNo={() => say(false)} onYes={() => say(true)} question="Try again from here?" yes="Yes">
            Another session, with the conversation of the one that asks, goes on after its last turn, in a worktree of
            its own{guidance.trim() === "" ? "" : ", and is told what you have written"}. The question stays open.
          </Confirmation>
        )}
        <div className={asked === undefined ? "grid grid-cols-2 gap-2 sm:flex sm:flex-wrap" : "hidden"}>
          {choices.map(({ key, option }) => {
            const { meaning, name } = partsOf(visible(option.label))
            const look =
              option === best
                ? "bg-accent text-on-accent border-accent"
                : isFinalChoice(question, option.name)
                  ? "border-line text-bad bg-card"
                  : "border-line text-strong bg-card"
            return (
              <button
                aria-keyshortcuts={option === best ? `${key} Enter` : key}
                className={`flex min-h-11 items-center justify-between gap-2 rounded-md border px-3 py-1.5 text-left font-medium ${look}`}
                key={option.name}
                onClick={() => answer(option)}
                type="button"
              >
                <span>
                  <span className="block first-letter:uppercase">{name}</span>
                  {meaning !== undefined && (
                    <span className={`text-xs font-normal ${shownMeaning(meaning)}`}>{meaning}</span>
                  )}
                </span>
                <span className="flex shrink-0 gap-1">
                  {key !== "" && <Key>{key}</Key>}
                  {option === best && <Key>Enter</Key>}
                </span>
              </button>
            )
          })}
          {hasRepository && (
            <button
              aria-keyshortcuts={forkKey}
              className="border-line text-soft bg-card col-span-2 flex min-h-11 items-center justify-between gap-2 rounded-md border border-dashed px-3 py-1.5 text-left disabled:opacity-60"
              disabled={forking.isBusy}
              onClick={() => setAsked({ _tag: "Fork" })}
              type="button"
            >
              Try again from here <Key>{forkKey}</Key>
            </button>
          )}
        </div>
        {asked === undefined && <Forked forking={forking} />}
        {evidence.continueUnavailable !== undefined && notice === undefined && (
          <p className="text-soft line-clamp-2 text-sm">
            Continuing is not offered: {visible(evidence.continueUnavailable)}
          </p>
        )}
        {notice !== undefined && <p className="text-warn text-sm">{notice}</p>}
      </div>
    </form>
  )
}
