import styles from './name-list.module.css';

const MOST_NAMES = 8;

/** Names of a dialog's affected items, truncated if long. Empty for a single name, which is in the title. */
export function NameList({ names }: { names: readonly string[] }) {
  if (names.length < 2) return null;
  const hidden = names.length - MOST_NAMES;
  return (
    <ul className={styles['names']}>
      {names.slice(0, MOST_NAMES).map((name) => (
        <li key={name}>{name}</li>
      ))}
      {hidden > 0 && <li className={styles['more']}>and {hidden} more</li>}
    </ul>
  );
}
