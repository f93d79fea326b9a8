import { isAppError } from '@svc/errors';
import type { CommandResult, EventAck, ResultAck } from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import type { Clock } from '../clock.ts';
import { fitIntoFrame } from '../commands/fit-into-frame.ts';
import type { CommandJournal } from '../commands/journal.ts';
import type { EventState } from '../state/event-state.ts';
import { ContractProof } from './contract-proof.ts';
import type { Session } from './session.ts';

export interface DeliveryOptions {
  journal: CommandJournal;
  events: EventState;
  clock: Clock;
  instanceId: string;
  log: Logger;
}

/** A result that was sent and not acknowledged goes again after this time, also on the same connection. */
const RESEND_MS = 30_000;

/** Brings results and events to the platform until it says that it has stored them, over any number of connections. */
export class Delivery {
  readonly #options: DeliveryOptions;
  #session: Session | null = null;
  #sendingEvents = false;
  #eventsAsked = false;
  #toldOfUnsent = false;
  readonly #proof: ContractProof;
  /** What left over this connection for a platform that may or may not be one of the contract. */
  #presumed = { seq: 0, commandIds: new Set<string>() };
  #cancelResend: (() => void) | undefined;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#proof = new ContractProof(options.clock);
  }

  /** A connection came to be: everything unacknowledged goes over it. */
  begin(session: Session): void {
    this.#session = session;
    this.#presumed = { seq: 0, commandIds: new Set() };
    this.#proof.watch(session, () => this.#settlePresumed());
    this.#options.events.rewind(session.welcome?.resumed === true ? session.welcome.last_received_seq : 0);
    this.#sendResults();
    this.eventsWaiting();
    void session.ended.then(() => {
      if (this.#session === session) this.#session = null;
    });
  }

  /** The platform introduced itself: what it has is what it acknowledges. */
  welcomed(): void {
    this.#proof.refute();
  }

  stop(): void {
    this.#cancelResend?.();
    this.#session = null;
  }

  /** A new result stands in the journal. */
  resultReady(result: CommandResult): void {
    void this.#sendResult(result);
    this.#scheduleResend();
  }

  /** The outbox has something new that may be sent, or there is a connection to send it over. */
  eventsWaiting(): void {
    this.#eventsAsked = true;
    if (this.#sendingEvents) return;
    this.#sendingEvents = true;
    void this.#sendEvents();
  }

  async resultsStored(ack: ResultAck): Promise<void> {
    await this.#options.journal.acknowledge(ack.command_ids);
  }

  /** What was never given to the platform, it cannot have stored: such numbers delete nothing. */
  eventsStored(ack: EventAck): void {
    const { instanceId, events, log } = this.#options;
    if (ack.instance_id !== instanceId) return;
    const { givenSeq } = events.outbox;
    if (ack.seq > givenSeq && !this.#toldOfUnsent) {
      this.#toldOfUnsent = true; // a platform that does it once does it always
      log.warn({ seq: ack.seq, sent: givenSeq }, 'the platform confirms events that were never sent');
    }
    events.acknowledge(Math.min(ack.seq, givenSeq));
  }

  #sendResults(): void {
    const { journal, log } = this.#options;
    this.#scheduleResend();
    journal.unacknowledged().then(
      async (results) => {
        for (const result of results) await this.#sendResult(result);
      },
      (error: unknown) => log.error({ err: error }, 'stored results could not be read'),
    );
  }

  async #sendResult(result: CommandResult): Promise<void> {
    const session = this.#session;
    if (session === null) return;
    try {
      await session.send('command_result', fitIntoFrame(result, session.frameSizeBytes));
      if (session.mode !== 'contract' || this.#session !== session) return;
      this.#presumed.commandIds.add(result.command_id);
      if (this.#proof.holds) this.#settlePresumed();
    } catch (error) {
      if (!session.closed) this.#options.log.error({ err: error }, 'a result could not be sent');
    }
  }

  #scheduleResend(): void {
    this.#cancelResend?.();
    this.#cancelResend = this.#options.clock.setTimer(() => {
      if (this.#session?.mode === 'svc' && this.#options.journal.unacknowledgedIds().length > 0) this.#sendResults();
    }, RESEND_MS);
  }

  /** Whoever asks while it runs is heard: it looks again before it ends. */
  async #sendEvents(): Promise<void> {
    while (this.#eventsAsked) {
      this.#eventsAsked = false;
      await this.#sendWaiting();
    }
    this.#sendingEvents = false; // in the same turn as the last look
  }

  async #sendWaiting(): Promise<void> {
    const { events, log } = this.#options;
    const { outbox } = events;
    for (let event = outbox.next(); event !== null; event = outbox.next()) {
      const session = this.#session;
      if (session === null || session.mode === 'waiting') return;
      try {
        await session.send('event', event);
      } catch (error) {
        if (!isAppError(error) || error.code !== 'FRAME_TOO_LARGE') return; // the connection ended: the next one goes on
        // All that comes after it would wait for ever. That it happened arrives in any case: it fits into any frame.
        log.warn(
          { event_type: event.event_type, resource: event.resource },
          'an event is larger than the platform takes',
        );
        await session.send('event', { ...event, details: { truncated: true } }).catch(() => undefined);
      }
      if (this.#session !== session) continue; // a newer connection sends it again, from its own place
      outbox.markSent(event);
      if (session.mode !== 'contract') continue;
      this.#presumed.seq = event.seq ?? 0;
      if (this.#proof.holds) this.#settlePresumed();
    }
  }

  /** A platform that knows only the contract never acknowledges: what left for it counts as delivered. */
  #settlePresumed(): void {
    const { journal, events, log } = this.#options;
    const { seq, commandIds } = this.#presumed;
    this.#presumed = { seq: 0, commandIds: new Set() };
    if (seq > 0) events.acknowledge(seq);
    if (commandIds.size === 0) return;
    journal.acknowledge([...commandIds]).catch((error: unknown) => {
      log.error({ err: error }, 'that results were delivered could not be written down');
    });
  }
}
