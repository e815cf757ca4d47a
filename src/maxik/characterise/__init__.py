"""What is known of each [CORE] item, and from where: the ledger."""
