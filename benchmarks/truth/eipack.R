# ei.MD.bayes of eiPack: arguments are the file of margins, the file for draws, and the seed.
suppressMessages(library(eiPack))
given <- commandArgs(trailingOnly = TRUE)
table <- read.csv(given[1])
set.seed(as.integer(given[3]))
kinds <- setdiff(names(table), "positives")
table$others <- rowSums(table[, kinds]) - table$positives
formula <- as.formula(paste("cbind(positives, others) ~ cbind(", paste(kinds, collapse = ", "), ")"))
tuning <- tuneMD(formula, data = table, ntunes = 10, totaldraws = 10000)
found <- ei.MD.bayes(formula, data = table, tune.list = tuning, sample = 1000, thin = 100, burnin = 100000,
                     ret.mcmc = TRUE)
beta <- as.matrix(found$draws$Beta) # columns: beta.kind.outcome.area
names <- colnames(beta)
columns <- unlist(lapply(kinds, function(kind) grep(paste0("^beta\\.", kind, "\\.positives\\."), names)))
stopifnot(length(columns) == length(kinds) * nrow(table))
write.table(beta[, columns], given[2], sep = ",", row.names = FALSE, col.names = FALSE)
