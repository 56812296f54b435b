/** Commands about notifications. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { jsonFlag, lazily } from "./shared.ts"

const test = Command.make(
  "test",
  {
    channel: Argument.String("CHANNEL").pipe(
      Argument.withDescription("Name of a channel in notify.channels; default: all of them"),
      Argument.optional
    ),
    json: jsonFlag
  },
  lazily(
    () => import("../flows/doctor/testChannels.ts"),
    (module, flags) => module.testChannels(flags)
  )
).pipe(
  Command.withDescription("Send a test message through each channel, and show the results"),
  Command.withExamples([{ command: "reprise notify test team", description: "Only through the channel 'team'" }])
)

export const notify = Command.make("notify").pipe(
  Command.withDescription("Check the notification channels"),
  Command.withSubcommands([test])
)
