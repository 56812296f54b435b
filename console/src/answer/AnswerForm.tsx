/** The choices of a question, with guidance and a preview of what the agent will be told. */
import {
  type EscalationOption,
  type EscalationView,
  gateAction,
  isFinalChoice,
  keyedChoices,
  recommended,
  undoKey,
  whyNoChoice
} from "@reprise/protocol"
import { useQuery } from "@tanstack/react-query"
import { useDeferredValue, useEffect, useRef, useState } from "react"
import { askPreview } from "../data/queries.ts"
import { partsOf } from "../data/words.ts"
import { announce } from "../parts/announce.tsx"
import { Key } from "../parts/Key.tsx"
import { useKeys } from "../parts/keys.ts"
import { visible } from "../parts/visible.ts"
import { AgentFields } from "./AgentFields.tsx"
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
      <summary className="text-soft">The agent will be told, word for word</summary>
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

/** A telephone has room for what is advised, and not for what each choice means. */
const shownMeaning = (meaning: string): string => (/\brecommended\b/.test(meaning) ? "block" : "hidden sm:block")

interface Props {
  readonly question: EscalationView
  readonly onChosen: () => void
}

export function AnswerForm({ onChosen, question }: Props) {
  const { escalationId, evidence, options } = question
  const choices = keyedChoices(question)
  const best = recommended(question)
  const [guidance, setGuidance] = useState(() => draftOf(escalationId).guidance)
  const [agent, setAgent] = useState(() => draftOf(escalationId).agent)
  const [missing, setMissing] = useState<string>()
  const [notice, setNotice] = useState<string>()
  const box = useRef<HTMLTextAreaElement>(null)
  const needsWords = options.every((one) => one.guidance === "required")
  const takesGuidance = options.some((one) => one.guidance !== "none")

  useEffect(() => saveDraft(escalationId, { guidance, agent }), [escalationId, guidance, agent])

  const answer = (option: EscalationOption) => {
    if (option.guidance === "required" && guidance.trim() === "") {
      setMissing(partsOf(visible(option.label)).name)
      box.current?.focus()
      return
    }
    choose(question, option.name, partsOf(option.label).name, {
      guidance,
      agent:
        option.agent === true
          ? { runtime: agent.runtime.trim(), model: agent.model.trim(), variant: agent.variant.trim() }
          : nobodyElse
    })
    onChosen()
  }

  const tell = (text: string) => {
    setNotice(text)
    announce(text)
  }

  useKeys((key) => {
    const option = choices.find((one) => one.key === key)?.option ?? (key === "Enter" ? best : undefined)
    setNotice(undefined)
    if (option !== undefined) answer(option)
    else if (key === "Enter") tell("No choice is recommended here: press the key of one.")
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
        <div className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
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
        </div>
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
