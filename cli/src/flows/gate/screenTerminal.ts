/** The terminal while the gate has the whole of it. */
import { render } from "ink"
import { createElement } from "react"
import { screenKeys } from "../../terminal/fullScreen.ts"
import { freeBottom, holdTerminal } from "../../terminal/Printer.ts"
import type { GateInput, GateModel } from "../../views/gate/GateModel.ts"
import { GateScreen } from "../../views/gate/GateScreen.ts"

/** Shows a model after the other, and offers what arrives. What is printed meanwhile waits until it is closed. */
export const makeScreenTerminal = (first: GateModel, offer: (input: GateInput) => void) => {
  let model = first
  const watchers = new Set<() => void>()
  const giveBottom = freeBottom()
  const giveBack = holdTerminal()
  const store = {
    get: () => model,
    subscribe: (changed: () => void) => {
      watchers.add(changed)
      return () => watchers.delete(changed)
    }
  }

  const open = (): (() => void) => {
    const input = screenKeys()
    // The picture begins where the cursor is, which the echo of what was typed has moved.
    process.stderr.write("\r")
    // What was typed before the picture is on the screen is not meant for it.
    const onDraw = () => {
      if (input.open()) offer({ _tag: "Told", text: "What you typed before this was shown is ignored." })
    }
    const ink = render(
      createElement(GateScreen, { store, onDraw, onArrived: (what, seen) => offer({ _tag: "Arrived", what, seen }) }),
      {
        stdin: input.keys,
        stdout: process.stderr,
        stderr: process.stderr,
        alternateScreen: true,
        incrementalRendering: true,
        exitOnCtrlC: false,
        interactive: true,
        isScreenReaderEnabled: false,
        patchConsole: false
      }
    )
    return () => {
      ink.unmount()
      input.close()
    }
  }

  let close = open()
  return {
    show: (next: GateModel): void => {
      model = next
      for (const changed of watchers) changed()
    },
    /** Another program takes the terminal, until the returned function is called. */
    lend: (): (() => void) => {
      close()
      return () => {
        close = open()
      }
    },
    close: (): void => {
      close()
      giveBack()
      giveBottom()
    }
  }
}
