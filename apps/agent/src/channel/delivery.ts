import { isAppError } from '@svc/errors';
import type { CommandResult, EventAck, ResultAck } from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import type { Clock } from '@svc/runtime';
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

/** An unacknowledged result is resent after this time, also on the same connection. */
const RESEND_MS = 30_000;

/** Delivers results and events to the platform until it confirms storing them, over any number of connections. */
export class Delivery {
  readonly #options: DeliveryOptions;
  #session: Session | null = null;
  #sendingEvents = false;
  #eventsAsked = false;
  #toldOfUnsent = false;
  readonly #proof: ContractProof;
  /** Messages sent over this connection to a platform that may know only the contract. */
  #presumed = { seq: 0, commandIds: new Set<string>() };
  #cancelResend: (() => void) | undefined;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#proof = new ContractProof(options.clock);
  }

  /** Called on a new connection: sends everything unacknowledged over it. */
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

  /** Called on the platform's welcome: from here on, only its acknowledgements count. */
  welcomed(): void {
    this.#proof.refute();
  }

  stop(): void {
    this.#cancelResend?.();
    this.#session = null;
  }

  /** Called when the journal has a new result. */
  resultReady(result: CommandResult): void {
    void this.#sendResult(result);
    this.#scheduleResend();
  }

  /** Called when the outbox has new events to send or a connection is available. */
  eventsWaiting(): void {
    this.#eventsAsked = true;
    if (this.#sendingEvents) return;
    this.#sendingEvents = true;
    void this.#sendEvents();
  }

  async resultsStored(ack: ResultAck): Promise<void> {
    await this.#options.journal.acknowledge(ack.command_ids);
  }

  /**
   * Acknowledges events. The platform cannot have stored what was never sent, so such sequence numbers delete nothing.
   */
  eventsStored(ack: EventAck): void {
    const { instanceId, events, log } = this.#options;
    if (ack.instance_id !== instanceId) return;
    const { givenSeq } = events.outbox;
    if (ack.seq > givenSeq && !this.#toldOfUnsent) {
      this.#toldOfUnsent = true; // log once; it will happen every time
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

  /** A request made while it runs is not lost: it checks again before it ends. */
  async #sendEvents(): Promise<void> {
    while (this.#eventsAsked) {
      this.#eventsAsked = false;
      await this.#sendWaiting();
    }
    this.#sendingEvents = false; // same tick as the last check
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
        if (!isAppError(error) || error.code !== 'FRAME_TOO_LARGE') return; // the next connection continues
        // All later events would wait forever. Send this one without its details, which fits into any frame.
        log.warn(
          { event_type: event.event_type, resource: event.resource },
          'an event exceeds the size that the platform accepts',
        );
        await session.send('event', { ...event, details: { truncated: true } }).catch(() => undefined);
      }
      if (this.#session !== session) continue; // a newer connection sends it again, from its own position
      outbox.markSent(event);
      if (session.mode !== 'contract') continue;
      this.#presumed.seq = event.seq ?? 0;
      if (this.#proof.holds) this.#settlePresumed();
    }
  }

  /** A platform that knows only the contract never acknowledges, so sent messages count as delivered. */
  #settlePresumed(): void {
    const { journal, events, log } = this.#options;
    const { seq, commandIds } = this.#presumed;
    this.#presumed = { seq: 0, commandIds: new Set() };
    if (seq > 0) events.acknowledge(seq);
    if (commandIds.size === 0) return;
    journal.acknowledge([...commandIds]).catch((error: unknown) => {
      log.error({ err: error }, 'delivered results could not be recorded');
    });
  }
}
