import { readFile } from 'node:fs/promises';

export interface PlatformFacts {
  residentBytes: number;
  /** CPU time since the process started, in seconds. */
  processorSeconds: number;
  /** 99th percentile of the event loop delay since the last read, in milliseconds. */
  loopDelayP99Ms: number;
  loopDelayMaxMs: number;
}

/** Each value of the histogram includes the pause between two samples. */
const POLL_EVERY_MS = 50;

/** Reads the process's `/metrics`; each read starts the next interval of the event loop delay. */
export async function platformFacts({
  url,
  token,
  pid,
}: {
  url: string;
  /** The token of an operator, which reading metrics requires. */
  token: string;
  pid: number;
}): Promise<PlatformFacts> {
  const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
  const value = (name: string): number => {
    const found = new RegExp(`^\\w*${name} (\\S+)$`, 'm').exec(text)?.[1];
    if (found === undefined) throw new Error(`the platform has no metric ${name}`);
    return Number(found);
  };
  const loopDelayMs = (which: string): number => value(`nodejs_eventloop_lag_${which}_seconds`) * 1000 - POLL_EVERY_MS;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return {
    residentBytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024,
    processorSeconds: value('process_cpu_seconds_total'),
    loopDelayP99Ms: loopDelayMs('p99'),
    loopDelayMaxMs: loopDelayMs('max'),
  };
}

/** Returns the kernel's buffer memory of all TCP sockets on the machine. */
export async function socketBufferBytes(): Promise<number> {
  const pages = Number(/^TCP:.* mem (\d+)/m.exec(await readFile('/proc/net/sockstat', 'utf8'))?.[1]);
  return pages * 4096;
}
