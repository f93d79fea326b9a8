import { describe, expect, it } from 'vitest';
import { ReceiveCredit, SendCredit } from './credit.ts';

describe('ReceiveCredit', () => {
  it('grants used bytes again once they make up the share of the window', () => {
    const credit = new ReceiveCredit(100, 0.25);
    expect(credit.spend(60)).toBe(true);
    expect([credit.use(24), credit.use(1), credit.use(35)]).toEqual([0, 25, 35]);
    expect(credit.leftBytes).toBe(100);
  });

  it('refuses bytes beyond the credit, and counts none of them', () => {
    const credit = new ReceiveCredit(100, 0.25);
    credit.spend(90);
    expect([credit.spend(11), credit.spend(10), credit.spend(1)]).toEqual([false, true, false]);
    credit.use(20); // not yet granted: below a quarter
    expect(credit.spend(1)).toBe(false);
  });

  it('knows when the reader has caught up, and counts a larger window as credit', () => {
    const credit = new ReceiveCredit(100, 0.5);
    credit.spend(10);
    expect(credit.isCaughtUp).toBe(false);
    credit.use(10);
    expect(credit.isCaughtUp).toBe(true);
    credit.resize(150);
    expect([credit.leftBytes, credit.windowBytes, credit.isCaughtUp]).toEqual([140, 150, true]);
  });
});

describe('SendCredit', () => {
  it('wakes those that wait when credit arrives', async () => {
    const credit = new SendCredit(10, 20);
    credit.spend(10);
    const waiting = Promise.all([credit.more(), credit.more()]);
    expect(credit.add(5)).toBe(true);
    await waiting;
    expect(credit.leftBytes).toBe(5);
  });

  it('refuses more credit than a peer may grant', () => {
    const credit = new SendCredit(10, 20);
    expect([credit.add(10), credit.add(1), credit.leftBytes]).toEqual([true, false, 20]);
  });
});
