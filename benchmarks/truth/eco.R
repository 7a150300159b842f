# eco: arguments are the file of margins, the file for draws, the seed, and "context" to allow for it.
suppressMessages(library(eco))
given <- commandArgs(trailingOnly = TRUE)
table <- read.csv(given[1])
set.seed(as.integer(given[3]))
size <- table$kind0 + table$kind1
areas <- data.frame(Y = table$positives / size, X = table$kind0 / size)
found <- eco(Y ~ X, data = areas, N = size, context = length(given) > 3, n.draws = 10000, burnin = 5000, thin = 4)
write.table(cbind(found$W[, 1, ], found$W[, 2, ]), given[2], sep = ",", row.names = FALSE, col.names = FALSE)
