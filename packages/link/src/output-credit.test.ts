import { describe, expect, it } from 'vitest';
import { OutputCredit } from './output-credit.ts';

function creditOf({ acknowledges }: { acknowledges: boolean }): { credit: OutputCredit; received: number[] } {
  const received: number[] = [];
  return { credit: new OutputCredit(acknowledges, (bytes) => received.push(bytes)), received };
}

describe('OutputCredit of a client that acknowledges', () => {
  it('counts output that was both taken and acknowledged', () => {
    const { credit, received } = creditOf({ acknowledges: true });
    credit.send(100);
    credit.taken(100);
    expect([received, credit.waitingBytes]).toEqual([[], 100]);
    credit.acknowledge(60);
    credit.acknowledge(40);
    expect([received, credit.waitingBytes]).toEqual([[60, 40], 0]);
  });

  it('loses no acknowledgement that overtakes the report of the socket', () => {
    const { credit, received } = creditOf({ acknowledges: true });
    credit.send(100);
    credit.acknowledge(100);
    expect([received, credit.waitingBytes]).toEqual([[], 100]);
    credit.taken(100);
    expect([received, credit.waitingBytes]).toEqual([[100], 0]);
  });

  it('ignores acknowledgements beyond what was sent, and negative ones', () => {
    const { credit, received } = creditOf({ acknowledges: true });
    credit.send(10);
    credit.taken(10);
    credit.acknowledge(1_000_000);
    credit.acknowledge(-5);
    expect(received).toEqual([10]);
    credit.send(10);
    credit.taken(10);
    expect([received, credit.waitingBytes]).toEqual([[10], 10]);
  });

  it('counts the screen first, and not as output', () => {
    const { credit, received } = creditOf({ acknowledges: true });
    credit.screen(50);
    credit.send(10);
    credit.taken(10);
    credit.acknowledge(30);
    expect(received).toEqual([]);
    credit.acknowledge(25);
    expect([received, credit.waitingBytes]).toEqual([[5], 5]);
  });
});

describe('OutputCredit of any other client', () => {
  it('counts output that the socket has taken, and no acknowledgements', () => {
    const { credit, received } = creditOf({ acknowledges: false });
    credit.screen(50);
    credit.send(10);
    credit.acknowledge(10);
    expect([received, credit.waitingBytes]).toEqual([[], 10]);
    credit.taken(10);
    expect([received, credit.waitingBytes]).toEqual([[10], 0]);
  });
});
