/**
 * Where a command shows its progress. At a terminal: lines that scroll, and below them what is under way, redrawn several
 * times a second. Elsewhere: the lines alone, one for each event that says something new.
 */
import type { SeenEvent } from "@reprise/actor"
import type { LiveMessage } from "@reprise/protocol"
import { Context, Effect, Schedule } from "effect"
import { canPin, color, columns, data, pin, ring, say } from "../../terminal/Printer.ts"
import { visible, visibleLine } from "../../terminal/visible.ts"
import { clipEnd, saidLines, wrappedLine } from "./fitText.ts"
import { type Continued, emptyModel, type LiveInput, type LiveLine, show } from "./LiveModel.ts"
import { statusLines } from "./statusLines.ts"
import { isImportant, type Tone } from "./tones.ts"

/** How much of the progress is shown. */
export interface ProgressFlags {
  /** Only what needs a human and what ends the work. */
  readonly quiet: boolean
  /** All that agents write. */
  readonly verbose: boolean
}

export const defaultProgress: ProgressFlags = { quiet: false, verbose: false }

export interface DisplayOptions extends ProgressFlags {
  readonly json: boolean
  /** Lines are data, as those of `watch`, and not messages about the command. */
  readonly asData: boolean
  /** Several runs may be shown. */
  readonly everyRun: boolean
  /** What the command does while no run is active. */
  readonly idle: string
}

export interface DisplayShape {
  /** Whether it shows what agents do right now. */
  readonly hears: boolean
  /** Shows the effect under this name while it runs, before the first event. */
  readonly step: <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** A run that is continued, whose earlier events are not shown. */
  readonly continued: (run: Continued) => Effect.Effect<void>
  /** `line`: what is printed for it, if anything. */
  readonly event: (seen: SeenEvent, line: string | undefined) => Effect.Effect<void>
  readonly live: (message: LiveMessage) => Effect.Effect<void>
  /** The questions that are open, where a key answers them. */
  readonly asked: (escalationIds: ReadonlyArray<string>) => Effect.Effect<void>
}

const printer = ({ asData }: Pick<DisplayOptions, "asData">) => (asData ? data : say)

/** An event that is older was not raised while the human looked. */
const freshMs = 10_000

/** Calls the human whose answer is needed. */
const ringFor = ({ event, meta }: SeenEvent): void => {
  if (event._tag === "EscalationRaised" && Date.now() - Date.parse(meta.time) < freshMs) ring()
}

/** Lines alone. */
const plainDisplay = (options: Pick<DisplayOptions, "asData" | "quiet">): DisplayShape => ({
  hears: false,
  step: (_name, effect) => effect,
  continued: () => Effect.void,
  event: (seen, line) =>
    Effect.sync(() => {
      const { event } = seen
      ringFor(seen)
      if (line !== undefined && (!options.quiet || isImportant(event))) printer(options)(visible(line))
    }),
  live: () => Effect.void,
  asked: () => Effect.void
})

/** The display of the command; without `withDisplay` lines on standard error. */
export const Display = Context.Reference<DisplayShape>("cli/Display", {
  defaultValue: () => plainDisplay({ asData: false, quiet: false })
})

const paint: Readonly<Record<Tone, (text: string) => string>> = {
  title: color.bold,
  good: color.green,
  bad: color.red,
  attention: color.yellow,
  faint: color.dim,
  plain: String
}

/** Programs that read the lines wrap them as they like. */
const unlimited = 100_000

const rowsOf = (line: LiveLine, width: number, verbose: boolean): ReadonlyArray<string> => {
  switch (line._tag) {
    case "line":
      return visible(line.text)
        .split("\n")
        .flatMap((text) => wrappedLine(text, width))
        .map(paint[line.tone])
    case "tool": {
      const text = visibleLine(line.text)
      return (verbose ? wrappedLine(text, width) : [clipEnd(text, width - 1)]).map(paint.faint)
    }
    case "said":
      return saidLines(line.text, width, line.whole).map(paint.faint)
  }
}

const printLine = (line: LiveLine, options: DisplayOptions): void => {
  const print = printer(options)
  const width = canPin() ? columns() : unlimited
  for (const row of rowsOf(line, width, options.verbose)) print(row)
}

const drawEvery = "200 millis"

/** Shows what agents do right now. At the end of the scope the bottom of the terminal is free again. */
const liveDisplay = Effect.fnUntraced(function* (options: DisplayOptions) {
  let model = emptyModel(Date.now(), options.verbose)
  const draw = () =>
    pin(
      statusLines(model, {
        nowMs: Date.now(),
        columns: columns(),
        everyRun: options.everyRun,
        idle: options.idle,
        faint: color.dim,
        attention: color.yellow
      })
    )
  const take = (input: LiveInput) => {
    const shown = show(model, input)
    model = shown.model
    for (const line of shown.lines) printLine(line, options)
    if (shown.lines.length > 0) draw()
  }
  process.stderr.on("resize", draw)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      process.stderr.off("resize", draw)
      pin([])
    })
  )
  yield* Effect.forkScoped(Effect.repeat(Effect.sync(draw), Schedule.spaced(drawEvery)), { startImmediately: true })
  return {
    hears: true,
    step: (name, effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          take({ _tag: "StepBegun", name, atMs: Date.now() })
          draw()
        }),
        () => effect,
        () => Effect.sync(() => take({ _tag: "StepDone", name, atMs: Date.now() }))
      ),
    continued: (run) => Effect.sync(() => take({ _tag: "Continued", run, atMs: Date.now() })),
    event: (seen, line) =>
      Effect.sync(() => {
        ringFor(seen)
        take({ _tag: "Event", event: seen.event, line, atMs: Date.parse(seen.meta.time) })
      }),
    live: (message) => Effect.sync(() => take({ _tag: "Live", message, atMs: Date.now() })),
    asked: (escalationIds) => Effect.sync(() => take({ _tag: "Asked", escalationIds }))
  } satisfies DisplayShape
})

/** Runs a command with the display that fits its flags and the terminal. */
export const withDisplay = <A, E, R>(options: DisplayOptions, effect: Effect.Effect<A, E, R>) => {
  // A program that reads the data gets it as it is.
  const isWatched = canPin() && (!options.asData || process.stdout.isTTY === true)
  if (options.json || options.quiet || !(isWatched || options.verbose)) {
    return Effect.provideService(effect, Display, plainDisplay(options))
  }
  return Effect.scoped(
    Effect.flatMap(liveDisplay(options), (display) => Effect.provideService(effect, Display, display))
  )
}

/** Shows the effect under this name while it runs. */
export const showingStep =
  (name: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Display, (display) => display.step(name, effect))
