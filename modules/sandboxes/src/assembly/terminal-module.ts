import type { Metrics } from '@svc/telemetry';
import type { SandboxesDependencies } from './dependencies.ts';
import type { SandboxContext } from '../domain/context.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { Tickets } from '../domain/tickets.ts';
import type { EventRecorder } from '../domain/events/event-recorder.ts';
import type { CommandService } from '../domain/exec/command-service.ts';
import type { CallerLimiter } from '../domain/admission.ts';
import { SessionScreens } from '../domain/terminal/screens/session-screens.ts';
import { TerminalAdmission } from '../routes/terminal/terminal-admission.ts';
import { TerminalSlots } from '../domain/terminal/terminal-slots.ts';
import type { TerminalPlaces } from '../domain/terminal/terminal-places.ts';
import { TerminalHub } from '../routes/terminal/terminal-hub.ts';

/** Creates the slots that terminals over WebSockets and SSH share. */
export function createSlots(
  { config, log }: SandboxesDependencies,
  { quotaLimits, random }: SandboxContext,
  places: TerminalPlaces,
): TerminalSlots {
  const failed = (err: unknown): void =>
    log.warn({ err }, 'the slot of a terminal could not be released; a restart releases it');
  return new TerminalSlots({ maxTerminals: config.max_terminals, places, quotaLimits, random, failed });
}

export function createHub(
  { access, audit, config, log, metrics }: SandboxesDependencies,
  { live, clock, random }: SandboxContext,
  service: SandboxService,
  tickets: Tickets,
  recorder: EventRecorder,
  limiter: CallerLimiter,
  slots: TerminalSlots,
): TerminalHub {
  const failures = metrics.counter('svc_sandbox_screen_failures_total', 'Screens of sessions that are kept no more', [
    'reason',
  ]);
  const screens = new SessionScreens({
    nowMs: () => clock.nowMs(),
    setTimer: clock.setTimer,
    failed: (reason, detail) => {
      failures.inc({ reason });
      log.warn({ reason, ...detail }, 'terminal screens were lost; late joiners get the buffered output instead');
    },
  });
  const allowedOrigins = config.allowed_origins;
  return new TerminalHub({
    admission: new TerminalAdmission({ access, audit, service, tickets, limiter, now: clock.now, allowedOrigins }),
    service,
    live,
    recorder,
    clock,
    random,
    screens,
    slots,
  });
}

/** Registers gauges for running sandboxes, commands and terminals. */
export function observeTerminals(
  metrics: Metrics,
  { live }: SandboxContext,
  hub: TerminalHub,
  commands: CommandService,
): void {
  metrics.observableGauge('svc_sandboxes_running', 'Sandboxes running on this node', () => live.size);
  metrics.observableGauge('svc_sandbox_terminals_open', 'Open terminals and commands', () => hub.openTerminals);
  metrics.observableGauge('svc_sandbox_session_screens', 'Screens kept for late joiners', () => hub.keptScreens);
  metrics.observableGauge('svc_sandbox_commands_running', 'Running exec commands', () => commands.running);
}
