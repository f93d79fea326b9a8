/** A server-sent event with a JSON body. */
export interface StreamedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads server-sent events as they arrive. */
export class EventReader {
  readonly events: StreamedEvent[] = [];
  comments = 0;
  status = 0;
  headers = new Headers();
  readonly #abort = new AbortController();
  #ended = false;

  /** Resolves when the response has started. */
  static async open(url: string, headers: Readonly<Record<string, string>>): Promise<EventReader> {
    const reader = new EventReader();
    const response = await fetch(url, {
      headers: { accept: 'text/event-stream', ...headers },
      signal: reader.#abort.signal,
    });
    reader.status = response.status;
    reader.headers = response.headers;
    void reader.#read(response).catch(() => undefined); // `close` aborts the read
    return reader;
  }

  get ended(): boolean {
    return this.#ended;
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    try {
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString();
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) this.#add(block);
      }
    } finally {
      this.#ended = true; // also when the stream was cut
    }
  }

  #add(block: string): void {
    if (block.startsWith(':')) this.comments += 1;
    const fields = new Map(
      block.split('\n').map((line) => [line.split(': ')[0] ?? '', line.slice(line.indexOf(': ') + 2)]),
    );
    const data = fields.get('data');
    if (data === undefined) return;
    this.events.push({
      id: fields.get('id') ?? '',
      event: fields.get('event') ?? '',
      data: JSON.parse(data) as Record<string, unknown>, // written by the platform
    });
  }
}
