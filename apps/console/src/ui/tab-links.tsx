import { Link, type LinkProps } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { classNames } from './class-names.ts';
import styles from './tab-links.module.css';

export interface TabLink {
  label: string;
  link: Pick<LinkProps, 'to' | 'params' | 'search'>;
  current: boolean;
  count?: number | undefined;
}

/** Pages that belong together, in one row. They are links, since each has its own URL. */
export function TabLinks({ label, tabs }: { label: string; tabs: readonly TabLink[] }) {
  const row = useRef<HTMLElement>(null);
  const current = tabs.find((tab) => tab.current)?.label;
  // On narrow screens the row is scrolled; the page that one is on is not hidden at its end.
  useEffect(() => {
    row.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  return (
    <nav ref={row} aria-label={label} className={styles['tabs']}>
      {tabs.map((tab) => (
        <Link
          key={tab.label}
          {...tab.link}
          resetScroll={false}
          // Else the first one, whose path begins that of all others, counted as the current page as well.
          activeOptions={{ exact: true, includeSearch: false }}
          className={classNames(styles['tab'], tab.current && styles['current'])}
          aria-current={tab.current ? 'page' : undefined}
        >
          {tab.label}
          {tab.count !== undefined && <span className={styles['count']}>{tab.count}</span>}
        </Link>
      ))}
    </nav>
  );
}
