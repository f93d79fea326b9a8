interface StreamedEvent {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** Reads server-sent events as they arrive. */
export class EventReader {
  readonly events: StreamedEvent[] = [];
  readonly #abort = new AbortController();
  #ended = false;
  status = 0;

  static async open(url: string, headers: Record<string, string>): Promise<EventReader> {
    const reader = new EventReader();
    const response = await fetch(url, {
      headers: { ...headers, accept: 'text/event-stream' },
      signal: reader.#abort.signal,
    });
    reader.status = response.status;
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
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.#add(block);
    }
    this.#ended = true;
  }

  #add(block: string): void {
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
